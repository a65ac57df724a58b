"""What commands do, in the language of the user: for help alone. What has no translation stays English."""

from __future__ import annotations

import os

_JAPANESE = {
    "annotate": "リソースに付いたアノテーションを書き換える",
    "api-resources": "サーバーが提供するAPIリソースの一覧を表示する",
    "api-versions": "サーバーが提供するAPIバージョンの一覧を表示する",
    "apply": "ファイルまたは標準入力の設定をリソースに適用する",
    "attach": "実行中のコンテナに接続する",
    "auth": "認可の状態を調べる",
    "autoscale": "Deployment、ReplicaSet、StatefulSetなどを自動でスケールさせる",
    "certificate": "証明書リソースを変更する",
    "cluster-info": "クラスターの情報を表示する",
    "completion": "シェルの補完コードを出力する",
    "config": "kubeconfigを変更する",
    "cordon": "ノードに新しいPodを割り当てないようにする",
    "cp": "コンテナとの間でファイルをコピーする",
    "create": "ファイルまたは標準入力からリソースを作成する",
    "debug": "ワークロードやNodeを調べるためのセッションを作成する",
    "delete": "ファイル、名前、ラベルなどで指定したリソースを削除する",
    "describe": "リソースの詳細を表示する",
    "diff": "現在の状態と適用後の状態の差分を表示する",
    "drain": "メンテナンスのためにNodeからPodを退避させる",
    "edit": "サーバーにあるリソースをエディターで書き換える",
    "events": "イベントの一覧を表示する",
    "exec": "コンテナの中でコマンドを実行する",
    "explain": "リソースの説明を表示する",
    "expose": "リソースを新しいServiceとして公開する",
    "get": "リソースを一つ、または幾つか、表にして見せる",
    "kuberc": "kubercファイルを管理する",
    "kustomize": "kustomizationからマニフェストを生成する",
    "label": "リソースに付いたラベルを書き換える",
    "logs": "コンテナのログを表示する",
    "patch": "リソースのフィールドを更新する",
    "plugin": "プラグインを扱う",
    "port-forward": "ローカルのポートをPodに転送する",
    "proxy": "APIサーバーへのプロキシを起動する",
    "replace": "ファイルまたは標準入力の内容でリソースを置き換える",
    "rollout": "リソースのロールアウトを管理する",
    "run": "クラスター上で指定したイメージを起動する",
    "scale": "ワークロードの規模を変更する",
    "set": "オブジェクトの特定の設定を変更する",
    "taint": "Nodeのtaintを更新する",
    "top": "リソースの使用量を表示する",
    "uncordon": "Nodeをスケジュール可能な状態としてマークする",
    "version": "クライアントとサーバーのバージョンを表示する",
    "wait": "リソースが特定の状態になるまで待つ",
}
_TEXTS: dict[str, dict[str, str]] = {
    "ja_JP": _JAPANESE,
    "de_DE": {"config": "Verändere kubeconfig Dateien", "uncordon": "Markiere Knoten als schedulable"},
    "fr_FR": {"config": "Modifier des fichiers kubeconfig"},
    "it_IT": {"config": "Modifica i file kubeconfig", "uncordon": "Contrassegna il nodo come programmabile"},
    "ko_KR": {"config": "kubeconfig 파일을 수정합니다"},
    "pt_BR": {"config": "Edita o arquivo kubeconfig", "uncordon": "Remove a restrição de execução de workloads no node"},
    "zh_CN": {"config": "修改 kubeconfig 文件", "uncordon": "标记节点为可调度"},
    "zh_TW": {"config": "修改 kubeconfig 檔案"},
}  # fmt: skip
_FULL_STOPS = {"ja_JP": "。", "zh_CN": "。", "zh_TW": "。"}


def language() -> str:
    """Return the language of the user that there are translations for; empty for English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            locale = value.partition(".")[0]
            return locale if locale in _TEXTS else ""
    return ""


def summary(name: str, english: str) -> str:
    """Return what a command does."""
    return _TEXTS.get(language(), {}).get(name, english)


def sentence(name: str, english: str) -> str:
    """Return what a command does, as a sentence."""
    text = summary(name, english)
    return text + (_FULL_STOPS.get(language(), ".") if text != english else ".")
