"""The command lines: every command with every output format over one state, and what people get wrong.

Words in braces are not shell: ``{x,y}`` in a template becomes a line for each of the words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

_FORMATS = "{|-o json|-o yaml|-o name|-o jsonpath={.metadata.name}|-o go-template={{.metadata.name}}}"
_DRY = "{--dry-run=client|--dry-run=server|}"
_SHOWN = "{|-o json|-o yaml|-o name}"

_TYPES = (
    "pods", "po", "pod", "services", "svc", "deployments", "deploy", "deployments.apps", "deployments.v1.apps",
    "replicasets", "rs", "statefulsets", "sts", "daemonsets", "ds", "jobs", "cronjobs", "cj", "configmaps", "cm",
    "secrets", "serviceaccounts", "sa", "nodes", "no", "namespaces", "ns", "persistentvolumes", "pv",
    "persistentvolumeclaims", "pvc", "storageclasses", "sc", "ingresses", "ing", "networkpolicies", "netpol", "roles",
    "rolebindings", "clusterroles", "clusterrolebindings", "endpoints", "endpointslices", "events", "ev",
    "poddisruptionbudgets", "pdb", "horizontalpodautoscalers", "hpa", "resourcequotas", "quota", "limitranges", "limits",
    "priorityclasses", "pc", "replicationcontrollers", "rc", "podtemplates", "leases", "csr", "crd", "all",
)  # fmt: skip
_OBJECTS = (
    "pod/web-1", "service/web", "deployment/web", "replicaset/web-rs", "statefulset/db", "daemonset/agent", "job/once",
    "cronjob/nightly", "configmap/settings", "secret/keys", "serviceaccount/robot", "node/node-1", "namespace/default",
    "pv/disk", "pvc/claim", "storageclass/fast", "ingress/front", "networkpolicy/closed", "role/reader",
    "rolebinding/readers", "clusterrole/looker", "clusterrolebinding/lookers", "endpoints/web", "pdb/web",
    "hpa/web", "quota/small", "limitrange/sizes", "priorityclass/high", "rc/old",
)  # fmt: skip

_TEMPLATES = rf"""
# get
get pods {{|-A|--show-labels|-L app,tier|--no-headers|--show-kind|-o wide|--sort-by=.metadata.name|--chunk-size=1|--server-print=false|--field-selector=status.phase=Running|-l app=web|-l 'app in (web,db)'|-l app!=web|-l 'tier'|-l '!tier'}}
get pods {{|-A|-l app=web}} {{-o json|-o yaml|-o name|-o jsonpath={{.items[*].metadata.name}}|-o jsonpath={{.items[0].spec.containers[*].image}}|-o custom-columns=N:.metadata.name,I:.spec.containers[*].image|-o go-template={{{{range.items}}}}{{{{.metadata.name}}}}:{{{{end}}}}|-o wide|-o kyaml}}
get pods web-1 {{|-o json|-o yaml|-o name|-o wide|--show-labels|--no-headers|-o jsonpath={{.status.phase}}|-o jsonpath={{.nothing}}|-o custom-columns=A:.metadata.name|--show-managed-fields -o yaml|--subresource=status|--subresource=status -o yaml|--ignore-not-found}}
get pods nothere {{|-o json|--ignore-not-found|-o name}}
get pods web-1 nothere {{|-o json|-o name|--ignore-not-found}}
get {{pod/web-1 svc/web|pod,svc|pods,services -o name|po/web-1 po/web-2 -o wide|all -o name|all -l app=web|pods svc/web|po/|/web|a/b/c}}
get {{-f pod.yaml|-f list.yaml|-f dir|-f nothere.yaml|-f pod.yaml -o name|-f list.yaml -o json|-f dir -o name|-f bad.yaml|-f broken.yaml|-f empty.yaml}}
get --raw {{/healthz|/api/v1/namespaces/default/configmaps/settings|/nothere|nothere|/version}}
get nodes {{|-o wide|-o name|--show-labels|-l disk=ssd|--field-selector=metadata.name=node-1|--sort-by=.metadata.name|--no-headers -o wide}}
get deployments -o {{foo|jsonpath|jsonpath=|go-template|go-template={{{{nope}}}}|custom-columns|custom-columns=|custom-columns=A|jsonpath={{.a[}}}}
get events {{|-o wide|--sort-by=.lastTimestamp|-A|--field-selector=involvedObject.name=web-1|-o name}}
events {{|-A|--for pod/web-1|--types=Warning|--types=Normal,Warning|-o json|-o yaml|-o name|--no-headers|--types=Foo|--for nothing|--for a/b/c}}
# describe
describe {{pods|pods web-1|pod/web-1 svc/web|pods -l app=web|pods nothere|po web|deployments,services|nodes node-1 --show-events=false|-f pod.yaml|pods --chunk-size=1|nothing|pods,nothing}}
# create
create deployment d --image=x {{|--replicas=2|--port=80|--image=y|--replicas=-1}} {_DRY} {_SHOWN}
create deployment d --image=x {_DRY} {{-- ls -l|--save-config -o yaml|--validate=false|--validate=nothing|--field-manager=me}}
create job j {{--image=x|--image=x -- date|--from=cronjob/nightly|--from=nightly|--from=cronjob/nothere|--from=pod/web-1|}} {_DRY} {_SHOWN}
create cronjob c {{--image=x --schedule='* * * * *'|--image=x|--schedule=1|--image=x --schedule='0 0 * * *' --restart=Never -- date}} {_DRY} {_SHOWN}
create configmap c {{|--from-literal=a=b|--from-literal=a=b --from-literal=c=d|--from-file=file.txt|--from-file=key=file.txt|--from-file=dir|--from-env-file=env.txt|--append-hash --from-literal=a=b|--from-literal=a|--from-file=nothere|--from-literal=a=b --from-env-file=env.txt}} {_DRY} {_SHOWN}
create secret generic s {{|--from-literal=a=b|--from-file=file.txt|--from-env-file=env.txt|--type=foo --from-literal=a=b|--append-hash --from-literal=a=b|--from-literal=a}} {_DRY} {_SHOWN}
create secret docker-registry s {{--docker-username=u --docker-password=p|--docker-username=u --docker-password=p --docker-email=e --docker-server=x.example|--docker-username=u|--from-file=file.txt|}} {_DRY} {_SHOWN}
create secret tls s {{--cert=nothere --key=nothere|--cert=file.txt --key=file.txt|}} {_DRY}
create service clusterip s {{--tcp=80|--tcp=80:8080|--tcp=5678:8080 --tcp=1|--clusterip=None|--clusterip=None --tcp=80|--tcp=a|--tcp=99999|}} {_DRY} {_SHOWN}
create service nodeport s {{--tcp=80|--tcp=80 --node-port=30123|}} {_DRY} {_SHOWN}
create service loadbalancer s {{--tcp=80:http|}} {_DRY} {_SHOWN}
create {{service|svc}} externalname s {{--external-name=a.example|--external-name=a.example --tcp=80|}} {_DRY} {_SHOWN}
create serviceaccount s {_DRY} {_SHOWN}
create namespace n {_DRY} {_SHOWN}
create quota q {{|--hard=cpu=1|--hard=cpu=1,pods=2 --scopes=BestEffort|--hard=cpu|--hard=cpu=x}} {_DRY} {_SHOWN}
create priorityclass p {{--value=10|--value=10 --global-default|--value=10 --description=x --preemption-policy=Never|}} {_DRY} {_SHOWN}
create poddisruptionbudget p {{--selector=a=b --min-available=1|--selector=a=b --max-unavailable=50%|--selector=a=b|--min-available=1|--selector=a=b --min-available=1 --max-unavailable=1}} {_DRY} {_SHOWN}
create role r {{--verb=get --resource=pods|--verb=get,list --resource=pods,deployments.apps --resource-name=a|--verb=get --resource=pods/log|--verb=get|--resource=pods|--verb=foo --resource=pods|--verb=get --resource=nothing|--verb=* --resource=pods}} {_DRY} {_SHOWN}
create clusterrole r {{--verb=get --resource=pods|--verb=get --non-resource-url=/healthz|--aggregation-rule=a=b|--verb=get|--verb=get --resource=nodes,pods/status}} {_DRY} {_SHOWN}
create rolebinding b {{--role=r --user=u|--clusterrole=c --serviceaccount=default:s|--role=r --group=g --user=u|--role=r|--user=u|--role=a --clusterrole=b --user=u|--role=r --serviceaccount=s}} {_DRY} {_SHOWN}
create clusterrolebinding b {{--clusterrole=c --user=u|--clusterrole=c --group=g --serviceaccount=a:b|--user=u}} {_DRY} {_SHOWN}
create ingress i {{--rule=a.example/=web:80|--rule=a.example/x*=web:80,tls=t|--class=c --default-backend=web:80|--rule=bad|--annotation=a=b --rule=/=web:http|}} {_DRY} {_SHOWN}
create token {{robot|nothere|robot --duration=1s|robot --bound-object-kind=Foo --bound-object-name=x|robot --duration=x}}
create {{-f pod.yaml|-f new.yaml|-f list.yaml|-f dir|-f nothere.yaml|-f bad.yaml|-f broken.yaml|-f empty.yaml|-f new.yaml --save-config}} {_DRY} {_SHOWN}
create {{|-f|foo|deployment|deployment a b --image=x|-f new.yaml extra|configmap|secret|service|secret foo|job a --image=x --from=b|ns a b}}
# apply, replace, delete, diff
apply {{-f pod.yaml|-f new.yaml|-f list.yaml|-f dir|-f nothere.yaml|-f bad.yaml|-f broken.yaml|-f empty.yaml|-f deploy.yaml|-f changed.yaml|-f generate.yaml}} {_DRY} {_SHOWN}
apply -f {{new.yaml|deploy.yaml|changed.yaml|list.yaml}} --server-side {{|--dry-run=server|--force-conflicts|--field-manager=me|--dry-run=client|--force}} {_SHOWN}
apply {{|-f|foo|-f new.yaml --prune|-f new.yaml --prune --all --selector=a=b|-f new.yaml --force-conflicts|-f new.yaml -l a=b|-f new.yaml --validate=nothing|-f new.yaml --subresource=status|-f deploy.yaml --overwrite=false|-f new.yaml --openapi-patch=false}}
apply view-last-applied {{-f deploy.yaml|deployment/web|pod/web-1|pod/nothere|-f new.yaml|deployment web -o json|deployment web -o foo}}
apply set-last-applied -f {{deploy.yaml|pod.yaml|new.yaml|pod.yaml --create-annotation|deploy.yaml --dry-run=client|deploy.yaml -o name}}
replace {{-f pod.yaml|-f new.yaml|-f list.yaml|-f nothere.yaml|-f bad.yaml|-f deploy.yaml|-f changed.yaml|-f pod.yaml --save-config}} {_DRY} {_SHOWN}
replace {{|-f|foo|-f pod.yaml --grace-period=1|-f pod.yaml --timeout=1s|-f pod.yaml --force --dry-run=client|--raw /x -f a -f b}}
delete --wait=false {{pod web-1|pod/web-1|pods web-1 web-2|pods --all|pods -l app=web|pod nothere|pod nothere --ignore-not-found|pods|-f pod.yaml|-f list.yaml|-f new.yaml|-f dir|svc,deploy web|all --all|ns nothere|pod web-1 --now|pod web-1 --force|pod web-1 --grace-period=0|pod web-1 --grace-period=5|deploy web --cascade=orphan|deploy web --cascade=foreground|deploy web --cascade=foo|pods --field-selector=metadata.name=web-1|node node-1 -n x|pod/web-1 svc/web}} {{|--dry-run=client|--dry-run=server|-o name}}
delete {{|--all|foo|pods --all -l a=b|pods -o json|pod web-1 --grace-period=1 --force|pods web-1 --all}}
diff -f {{pod.yaml|deploy.yaml|new.yaml|nothere.yaml|bad.yaml|deploy.yaml --server-side}}
# changes
label {{pod web-1 a=b|pods --all a=b|pod web-1 app=new|pod web-1 app=new --overwrite|pod web-1 app-|pod web-1 nothere-|pod web-1 a=b c-|pod web-1|pod web-1 a=b=c|pod web-1 'a=b c'|pod nothere a=b|pods -l app=web a=b|-f pod.yaml a=b|pod web-1 --list|pods --all --list|pod web-1 app=web|pod web-1 a=b --resource-version=1|pod web-1 a=b a-}} {_DRY} {{|-o json|-o name}}
annotate {{pod web-1 a=b|pods --all a=b|pod web-1 note=new|pod web-1 note=new --overwrite|pod web-1 note-|pod web-1 nothere-|pod web-1|pod nothere a=b|pods -l app=web a=b|-f pod.yaml a=b|pod web-1 --list|pod web-1 a=b --resource-version=1}} {_DRY} {{|-o json|-o name}}
patch {{pod web-1 -p '{{"metadata":{{"labels":{{"a":"b"}}}}}}'|deploy web -p '{{"spec":{{"replicas":7}}}}'|deploy web --type=json -p '[{{"op":"replace","path":"/spec/replicas","value":7}}]'|deploy web --type=merge -p 'spec: {{replicas: 7}}'|deploy web -p '{{}}'|pod nothere -p '{{}}'|pod web-1 -p 'a: ['|pod web-1 --type=foo -p '{{}}'|pod web-1|-f pod.yaml -p '{{"metadata":{{"labels":{{"a":"b"}}}}}}'|deploy web --subresource=scale --type=merge -p '{{"spec":{{"replicas":7}}}}'|deploy web --patch-file patch.yaml|deploy web --patch-file nothere|pod web-1 --type=json -p '{{}}'}} {_DRY} {{|-o json|-o yaml|-o name}}
scale {{deploy web --replicas=3|deploy/web --replicas=3 --current-replicas=2|deploy/web --replicas=3 --current-replicas=9|rs,deploy web --replicas=3|deploy --all --replicas=3|-f deploy.yaml --replicas=3|deploy nothere --replicas=1|deploy web|pod web-1 --replicas=1|sts db --replicas=0|deploy web --replicas=-1|deploy web --replicas=1 --resource-version=1|job once --replicas=1|deploy -l app=web --replicas=2}} {_DRY} {{|-o json|-o name}}
expose {{deploy web --port=80|deploy web --port=80 --target-port=8080 --name=n|svc web --port=80 --name=n|pod web-1 --port=80 --name=n --type=NodePort|rc old --port=80|deploy web|pod web-1|cm settings|deploy nothere --port=1|-f deploy.yaml --port=80 --name=n|deploy web --port=80 --protocol=UDP --labels=a=b --selector=c=d|deploy web --port=80 --external-ip=1.2.3.4 --session-affinity=ClientIP|deploy web --port=80 --cluster-ip=None|rs web-rs --port=80,81|}} {_DRY} {_SHOWN}
autoscale {{deploy web --max=5|deploy web --min=2 --max=5 --cpu=80%|deploy web --max=5 --name=n --memory=500Mi|rs web-rs --max=5|deploy web|deploy web --max=0|deploy web --min=5 --max=2|deploy nothere --max=1|pod web-1 --max=1|-f deploy.yaml --max=3}} {_DRY} {_SHOWN}
run {{r --image=x|r --image=x --port=80|r --image=x --expose --port=80|r --image=x --env=A=b --labels=a=b|r --image=x --command -- ls -l|r --image=x -- a b|r --image=x --restart=Never|r --image=x --restart=Foo|r --image=x --overrides='{{"spec":{{"nodeName":"n"}}}}'|r|--image=x|r --image=|r --image=x --expose|r --image=x --annotations=a=b --privileged|r --image=x --rm|r --image=x --image-pull-policy=Always}} {_DRY} {_SHOWN}
set image {{deploy/web web=new|deploy web web=new|deploy/web *=new|deploy/web nothere=new|deploy/web web|deploy web|--all deploy *=new|-f deploy.yaml web=new|-f deploy.yaml web=new --local|pod/web-1 web=new|deploy/nothere web=x|cm/settings a=b|deploy/web web=nginx:1}} {_DRY} {{|-o json|-o yaml|-o name}}
set resources {{deploy web --limits=cpu=1|deploy web --requests=cpu=1,memory=1Gi -c web|deploy web|deploy web --limits=foo|-f deploy.yaml --limits=cpu=1 --local|deploy nothere --limits=cpu=1|deploy web --limits=cpu=0|deploy web -c nothere --limits=cpu=1}} {_DRY} {{|-o json|-o yaml|-o name}}
set env {{deploy/web A=1|deploy/web LEVEL=new|deploy/web LEVEL-|deploy/web --list|pods --all --list|deploy/web --from=configmap/settings|deploy/web --from=secret/keys --prefix=P_|deploy/web --from=configmap/settings --keys=level|deploy/web|deploy/web A=1 --overwrite=false|deploy/web LEVEL=x --overwrite=false|-f deploy.yaml A=1 --local|deploy/web -c nothere A=1|deploy/web 1a=b|deploy/web --env=A=1|cm/settings A=1|deploy/web --list --resolve}} {_DRY} {{|-o json|-o yaml|-o name}}
set serviceaccount {{deploy web robot|deploy/web robot|-f deploy.yaml robot|deploy web|deploy nothere robot|cm settings robot|-f deploy.yaml robot --local}} {_DRY} {{|-o json|-o name}}
set selector {{svc web a=b|svc/web a=b,c=d|svc web|deploy web a=b|svc nothere a=b|svc web 'a in (b)'|svc web a=b --resource-version=1}} {_DRY} {{|-o json|-o name}}
set subject {{rolebinding readers --user=u|rolebinding/readers --group=g --serviceaccount=a:b|clusterrolebinding lookers --user=u|rolebinding readers|rolebinding nothere --user=u|cm settings --user=u|rolebinding readers --serviceaccount=a|rolebinding readers --user=ann}} {_DRY} {{|-o json|-o name}}
taint nodes {{node-1 a=b:NoSchedule|node-1 a:NoExecute|node-1 a=b:Foo|node-1 dedicated-|node-1 dedicated:NoSchedule-|node-1 nothere-|node-1|--all a=b:NoSchedule|-l disk=ssd a=b:NoSchedule|node-1 dedicated=other:NoSchedule|node-1 dedicated=other:NoSchedule --overwrite|nothere a=b:NoSchedule|node-1 a=b|node-1 a=b:NoSchedule a-}} {_DRY} {{|-o json|-o name}}
{{cordon|uncordon}} {{node-1|node-2|node/node-1|nothere|-l disk=ssd|node-1 node-2||pod/web-1|node-1 -l a=b}} {_DRY}
drain {{node-1|node-1 --ignore-daemonsets|node-1 --force|nothere||node-2}} {{--dry-run=client|--dry-run=server}}
rollout {{history|pause|resume|restart|undo}} {{deploy/web|deploy web|sts/db|ds/agent|deploy/nothere|pod/web-1|cm/settings||-f deploy.yaml|deploy web --foo}}
rollout status --timeout=1s {{deploy/web|deploy web|deploy/nothere|pod/web-1|cm/settings||-f deploy.yaml|deploy web --foo|deploy/web --watch=false|sts/db --watch=false|ds/agent --watch=false}}
rollout history deploy/web {{--revision=1|--revision=9|--revision=-1|-o json|-o yaml|-o name}}
rollout undo deploy/web {{--to-revision=1|--to-revision=9|--dry-run=client|--dry-run=server}}
certificate {{approve|deny}} {{ann|nothere||-f nothere.yaml|ann --force|ann -o name}}
autoscale
edit {{pod nothere|nothing|pod web-1 -o foo --output-patch|pods -l nothere=x}}
# asking
auth can-i {{get pods|list nodes|create deployments.apps|get nothing|'*' '*'|get /healthz|get pods/log|get pods --subresource=log|get pods web-1|get pod/web-1|--list|get|get pods -q|delete ns --all-namespaces|get pods --as=nobody|use psp|get /x --subresource=y|--list -o wide}}
auth whoami {{|-o json|-o yaml|-o name|-o jsonpath={{.status.userInfo.username}}}}
auth reconcile -f {{rbac.yaml|pod.yaml|nothere.yaml}} {{|--dry-run=client|-o name}}
api-resources {{|-o wide|-o name|--namespaced=true|--namespaced=false|--api-group=apps|--api-group=|--verbs=list,get|--no-headers|--sort-by=name|--sort-by=kind|--sort-by=foo|--categories=all|-o foo|foo|--cached}}
api-versions {{|foo}}
cluster-info {{|foo}}
version {{--client -o foo|foo|--client foo}}
explain {{pods|pods.spec|pod.spec.containers|deployments|deployments.apps|deployment.spec.strategy|services.spec.ports|nodes.status|configmaps.data|secrets.type|ingress.spec.rules|cronjobs.spec.jobTemplate|pods.nothing|nothing|pods.spec.nothing|jobs --api-version=batch/v1|deploy --api-version=apps/v2|hpa.spec|pvc.spec|netpol.spec|roles.rules|sa|events|pdb.status|storageclasses|rc.spec|limits.spec|quota.spec.hard|csr.spec|crd.spec.versions|pods foo|}} {{|--recursive|--recursive --max-depth=1}}
explain pods {{-o foo|--max-depth=1|--recursive --max-depth=-1|-o plaintext}}
logs {{web-1|pod/web-1|nothere|deploy/web|web-1 -c nothere|-l app=web|web-1 --all-containers|web-1 -p|web-1 --since=1s --since-time=x|web-1 --tail=-2|cm/settings||web-1 -c web extra more|web-1 --limit-bytes=-1|web-1 --since=-1s|-l app=web web-1|job/once|web-1 --timestamps --tail=5 --since=1h}}
exec {{|web-1|nothere -- ls|web-1 ls|cm/settings -- ls|web-1 -c nothere -- ls|-f pod.yaml -f new.yaml -- ls}}
attach {{|nothere|web-1 -c nothere|a b c|cm/settings}}
cp {{|a|a b|web-1:/a web-2:/b|nothere:/a b|a :b|a x/y/z:/b|nothere.txt web-1:/a}}
port-forward {{|web-1|nothere 1|svc/web foo|web-1 a|web-1 1:2:3|cm/settings 1|svc/web 9999|deploy/nothere 80}}
wait {{pod/web-1 --for=condition=Ready --timeout=0|pod/web-1 --for=jsonpath={{.status.phase}}=Running|pod/web-1 --for=jsonpath={{.status.phase}}=Foo --timeout=0|pod/nothere --for=delete|pod/nothere --for=condition=Ready|pods --all --for=condition=Ready --timeout=0|pod/web-1|pod/web-1 --for=foo|pods -l nothere=x --for=condition=Ready|deploy/web --for=condition=Available --timeout=0|pod/web-1 --for=jsonpath={{.a[}}|--for=delete|pod/web-1 --for=create|pod/web-1 --for=jsonpath={{.status.phase}}}}
top {{pods|nodes|pod web-1|node node-1|pods --sort-by=foo|pods web-1 -l a=b|}}
debug {{|nothere|web-1|web-1 --image=x --profile=foo|node/nothere --image=x|web-1 --image=x --copy-to=web-1|web-1 --copy-to=n --set-image=a|web-1 --image=x --target=nothere --copy-to=n}}
plugin {{|foo}}
kustomize {{nothere|a b}}
completion {{|foo|bash zsh}}
options foo
# configuration
config {{view|view -o json|view --minify|view --raw|view --flatten|view -o jsonpath={{.current-context}}|get-contexts|get-contexts -o name|get-contexts one|get-contexts nothere|get-contexts --no-headers|get-clusters|get-users|current-context|current-context foo|use-context two|use-context nothere|use-context|use two|set-context three|set-context three --cluster=c --user=u --namespace=n|set-context --current --namespace=z|set-context|set-cluster c --server=https://x|set-cluster c --insecure-skip-tls-verify=true|set-cluster c --certificate-authority=nothere --embed-certs|set-cluster|set-cluster c --certificate-authority=file.txt --embed-certs|set-cluster c --proxy-url=http://p --tls-server-name=n|set-credentials u --token=t|set-credentials u --username=a --password=b|set-credentials u --username=a --token=b|set-credentials u --exec-command=x --exec-api-version=client.authentication.k8s.io/v1|set-credentials u --exec-command=x --exec-arg=a --exec-arg=b --exec-env=A=b|set-credentials u --client-certificate=file.txt --client-key=file.txt --embed-certs|set-credentials u --auth-provider=p --auth-provider-arg=a=b|set-credentials|delete-context two|delete-context nothere|delete-cluster local|delete-user admin|delete-user nothere|rename-context one uno|rename-context nothere x|rename-context one two|rename-context|set current-context x|set clusters.local.server https://y|set users.admin.token t|set contexts.one.namespace n|set foo.bar x|set clusters.new.certificate-authority-data aGk=|set clusters.new.certificate-authority-data '!'|set clusters.new.certificate-authority-data hi --set-raw-bytes|set|unset current-context|unset contexts.one.namespace|unset users.nothere|unset foo|unset clusters.local|foo|}}
# mistakes
{{gett|ge|lis|foo|list|rm|inspect|stats|--foo|-x|--namespace|get pods --output|get pods --foo=bar|get pods -A=maybe|get pods --chunk-size=x|--help=maybe|-n}}
{{get|describe|delete|label|annotate|patch|scale|expose|logs|exec|set|create|rollout|config|auth|top|certificate|apply|replace|run|taint|edit|attach|autoscale|cordon|drain|explain|wait|diff|debug|cp|port-forward|kuberc|plugin}} --nothing
{{get nothing|describe nothing|delete nothing x|label nothing x a=b|get nothing/x|get pods.nothing|get pods.v9|get deployments.v1beta1.apps|scale nothing/x --replicas=1|expose nothing x|get po.v1.|rollout status nothing/x|wait nothing/x --for=delete|annotate nothing x a=b|set image nothing/x a=b|patch nothing x -p {{}}|autoscale nothing/x --max=2|logs nothing/x|edit nothing/x}}
"""


def _expanded(template: str) -> Iterator[str]:
    """Yield the lines of a template: one for each combination of its choices."""
    pieces: list[list[str]] = []
    rest = template
    while True:
        start = _next_choice(rest)
        if start is None:
            pieces.append([rest])
            break
        begin, end, words = start
        pieces += [[rest[:begin]], words]
        rest = rest[end:]
    for combination in itertools.product(*pieces):
        yield " ".join("".join(combination).split())


def _next_choice(text: str) -> tuple[int, int, list[str]] | None:
    """Return where the next choice begins and ends, and its words: braces with a bar at their own depth."""
    for begin, char in enumerate(text):
        if char != "{":
            continue
        depth, last = 0, begin + 1
        words: list[str] = []
        for place in range(begin, len(text)):
            if text[place] == "{":
                depth += 1
            elif text[place] == "}":
                depth -= 1
                if not depth:
                    if words:
                        return begin, place + 1, [*words, text[last:place]]
                    break
            elif text[place] == "|" and depth == 1:
                words.append(text[last:place])
                last = place + 1
    return None


def _lines_of(name: str) -> list[str]:
    return (Path(__file__).parent / name).read_text().splitlines()


def general() -> list[str]:
    """Return the lines that older originals run as well, each of them once."""
    result: list[str] = []
    for kind in _TYPES:
        result += [f"get {kind}{form}" for form in ("", " -o wide", " -o json", " -o name", " -A")]
    for name in _OBJECTS:
        result += [f"get {name} {form}".strip() for form in ("", "-o yaml", "-o wide", "--show-labels")]
        result.append(f"describe {name}")
        result.append(f"delete --wait=false {name}")
    for template in _TEMPLATES.splitlines():
        if template and not template.startswith("#"):
            result += _expanded(template)
    return _once([*result, *_lines_of("seldom.txt")])


def special() -> list[str]:
    """Return the lines with every flag and with odd files, which only an original of our version runs alike."""
    templates = [*_lines_of("flags.txt"), *_lines_of("strange.txt")]
    return _once([line for template in templates if template[:1] != "#" for line in _expanded(template)])


def lines() -> list[str]:
    """Return every command line, each of them once."""
    return _once([*general(), *special()])


def _once(repeated: list[str]) -> list[str]:
    return list(dict.fromkeys(line for line in repeated if line and not line.startswith("#")))
