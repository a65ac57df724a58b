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
    "apply edit-last-applied": "最後に適用した設定をエディターで書き換える",
    "apply set-last-applied": "最後に適用した設定をファイルの内容にする",
    "apply view-last-applied": "最後に適用した設定を表示する",
    "auth can-i": "ある操作が許されているかを調べる",
    "auth reconcile": "RBACのオブジェクトをファイルの内容に合わせる",
    "auth whoami": "サーバーから見た自分の属性を表示する",
    "certificate approve": "証明書署名要求を承認する",
    "certificate deny": "証明書署名要求を拒否する",
    "cluster-info dump": "調査に役立つ情報をまとめて出力する",
    "config current-context": "現在のコンテキストを表示する",
    "config delete-cluster": "クラスターをkubeconfigから削除する",
    "config delete-context": "コンテキストをkubeconfigから削除する",
    "config delete-user": "ユーザーをkubeconfigから削除する",
    "config get-clusters": "kubeconfigにあるクラスターを表示する",
    "config get-contexts": "コンテキストを一つ、または幾つか表示する",
    "config get-users": "kubeconfigにあるユーザーを表示する",
    "config rename-context": "コンテキストの名前を変える",
    "config set": "kubeconfigの値を一つ設定する",
    "config set-cluster": "クラスターをkubeconfigに設定する",
    "config set-context": "コンテキストをkubeconfigに設定する",
    "config set-credentials": "ユーザーをkubeconfigに設定する",
    "config unset": "kubeconfigの値を一つ取り除く",
    "config use-context": "現在のコンテキストを切り替える",
    "config view": "まとめたkubeconfig、または指定したファイルを表示する",
    "plugin list": "実行できるプラグインの一覧を表示する",
    "rollout history": "ロールアウトの履歴を見る",
    "rollout pause": "リソースのロールアウトを止めておく",
    "rollout restart": "リソースのPodを順に作り直す",
    "rollout resume": "止めておいたロールアウトを続ける",
    "rollout status": "ロールアウトの進み具合を表示する",
    "rollout undo": "前のロールアウトに戻す",
    "set env": "Podテンプレートの環境変数を変更する",
    "set image": "Podテンプレートのイメージを変更する",
    "set resources": "Podテンプレートのリソース要求と制限を変更する",
    "set selector": "リソースのセレクターを設定する",
    "set serviceaccount": "リソースのServiceAccountを変更する",
    "set subject": "RoleBindingなどの対象を変更する",
    "top node": "Nodeのリソース使用量を表示する",
    "top pod": "Podのリソース使用量を表示する",
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
            locale, dot, _ = value.partition(".")  # one without an encoding is not looked at
            return locale if dot and locale in _TEXTS else ""
    return ""


def summary(name: str, english: str) -> str:
    """Return what a command does."""
    return _TEXTS.get(language(), {}).get(name, english)


def sentence(name: str, english: str) -> str:
    """Return what a command does, as a sentence."""
    text = summary(name, english)
    return text + (_FULL_STOPS.get(language(), ".") if text != english else ".")
