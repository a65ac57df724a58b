"""The structs of a kustomization: a line per struct, fields with their types."""

from __future__ import annotations

_GVK = "group:string version:string kind:string"
_RESID = f"{_GVK} name:string namespace:string"
_GENERATOR = (
    "namespace:string name:string behavior:string literals:[]string files:[]string envs:[]string env:string "
    "options:GeneratorOptions"
)
_CHART = (
    "name:string version:string repo:string releaseName:string namespace:string additionalValuesFiles:[]string "
    "valuesFile:string valuesInline:object valuesMerge:string includeCRDs:bool skipHooks:bool apiVersions:[]string "
    "kubeVersion:string nameTemplate:string skipTests:bool debug:bool devel:bool"
)
_SPECS = "fieldSpecs:[]FieldSpec"
_TEXT = f"""
Kustomization kind:string apiVersion:string metadata:ObjectMeta openapi:map namePrefix:string nameSuffix:string namespace:string commonLabels:map labels:[]Label commonAnnotations:map patchesStrategicMerge:[]string patchesJson6902:[]Patch patches:[]Patch images:[]Image imageTags:[]Image replacements:[]ReplacementField replicas:[]Replica vars:[]Var sortOptions:SortOptions resources:[]string components:[]string crds:[]string bases:[]string configMapGenerator:[]ConfigMapArgs secretGenerator:[]SecretArgs helmGlobals:HelmGlobals helmCharts:[]HelmChart helmChartInflationGenerator:[]HelmChartArgs generatorOptions:GeneratorOptions configurations:[]string generators:[]string transformers:[]string validators:[]string buildMetadata:[]string
ObjectMeta name:string namespace:string labels:map annotations:map
Label pairs:map includeSelectors:bool includeTemplates:bool fields:[]FieldSpec
FieldSpec {_GVK} path:string create:bool
Patch path:string patch:string target:Selector options:PatchArgs
PatchArgs allowNameChange:bool allowKindChange:bool
Selector {_RESID} annotationSelector:string labelSelector:string
Image name:string newName:string tagSuffix:string newTag:string digest:string
ReplacementField source:SourceSelector targets:[]TargetSelector sourceValue:string path:string
Replacement source:SourceSelector targets:[]TargetSelector sourceValue:string
SourceSelector {_RESID} fieldPath:string options:FieldOptions
TargetSelector select:Selector reject:[]Selector fieldPaths:[]string options:FieldOptions
FieldOptions delimiter:string index:int encoding:string create:bool
Replica name:string count:int64
Var name:string objref:Target fieldref:FieldSelector
Target apiVersion:string {_GVK} name:string namespace:string
FieldSelector fieldPath:string
SortOptions order:string legacySortOptions:LegacySortOptions
LegacySortOptions orderFirst:[]string orderLast:[]string
ConfigMapArgs {_GENERATOR}
SecretArgs {_GENERATOR} type:string
GeneratorOptions labels:map annotations:map disableNameSuffixHash:bool immutable:bool
HelmGlobals chartHome:string configHome:string
HelmChart {_CHART}
HelmChartArgs chartName:string chartVersion:string chartRepoUrl:string chartHome:string chartRepoName:string helmBin:string helmHome:string values:string valuesLocal:object valuesMerge:string releaseName:string releaseNamespace:string extraArgs:[]string
NameBackReferences {_GVK} fieldSpecs:[]FieldSpec
TransformerConfig namePrefix:[]FieldSpec nameSuffix:[]FieldSpec namespace:[]FieldSpec commonLabels:[]FieldSpec labels:[]FieldSpec templateLabels:[]FieldSpec commonAnnotations:[]FieldSpec nameReference:[]NameBackReferences varReference:[]FieldSpec images:[]FieldSpec replicas:[]FieldSpec
AnnotationsTransformer annotations:map {_SPECS}
LabelTransformer labels:map {_SPECS}
NamespaceTransformer metadata:ObjectMeta {_SPECS} unsetOnly:bool setRoleBindingSubjects:string
PrefixTransformer prefix:string {_SPECS}
SuffixTransformer suffix:string {_SPECS}
PrefixSuffixTransformer prefix:string suffix:string {_SPECS}
HashTransformer
ImageTagTransformer imageTag:Image {_SPECS}
ReplicaCountTransformer replica:Replica {_SPECS}
PatchTransformer path:string patch:string target:Selector options:PatchArgs
PatchJson6902Transformer target:Selector path:string jsonOp:string
PatchStrategicMergeTransformer paths:[]string patches:string
ReplacementTransformer replacements:[]ReplacementField
ValueAddTransformer value:string targets:[]ValueAddTarget targetFilePath:string
ValueAddTarget selector:Selector fieldPath:string filePathPosition:int
ConfigMapGenerator metadata:ObjectMeta {_GENERATOR}
SecretGenerator metadata:ObjectMeta {_GENERATOR} type:string
HelmChartInflationGenerator chartHome:string configHome:string {_CHART}
IAMPolicyGenerator cloud:string kubernetesService:KubernetesService serviceAccount:ServiceAccount
KubernetesService name:string namespace:string
ServiceAccount name:string projectId:string
"""


def _structs() -> dict[str, dict[str, str]]:
    structs = {}
    for line in _TEXT.strip().splitlines():
        name, *fields = line.split()
        pairs = (field.split(":", 1) for field in fields)
        structs[name] = {field: kind for field, kind in pairs}
    return structs


STRUCTS = _structs()
