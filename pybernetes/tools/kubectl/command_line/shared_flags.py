"""Flags that several commands have."""

from __future__ import annotations

GLOBAL = """
- as string | user to impersonate
- as-group array | group to impersonate; may be repeated
- as-uid string | UID to impersonate
- as-user-extra array | extra attribute (key=value) of the user to impersonate; may be repeated
- cache-dir string | directory for cached answers of the server (default: ~/.kube/cache)
- certificate-authority string | file with the certificate authority to trust
- client-certificate string | file with the client certificate
- client-key string | file with the key of the client certificate
- cluster string | cluster of the kubeconfig to use
- context string | context of the kubeconfig to use
- disable-compression bool false | ask for answers that are not compressed
- insecure-skip-tls-verify bool false | do not check the certificate of the server; this is insecure
- kubeconfig string | kubeconfig file to use
- kuberc string | file with preferences
- log-flush-frequency duration 5s | how often log lines are written
- match-server-version bool false | require that server and client have the same version
n namespace string | namespace to work in
- password string | password for basic authentication
- profile string none | profile to take: cpu, heap, goroutine, threadcreate, block or trace
- profile-output string profile.pprof | file for the profile
- proxy-url string | proxy for requests to the server
- request-timeout string 0 | time limit of a single request (1s, 2m, 3h); 0 is none
s server string | address and port of the server
- tls-server-name string | name that the certificate of the server must have
- token string | bearer token
- user string | user of the kubeconfig to use
- username string | user name for basic authentication
v v int 0 | verbosity of log lines
- vmodule string |
- warnings-as-errors bool false | end with an error if the server warns
"""
TEMPLATE = """
- allow-missing-template-keys bool true | ignore fields and keys that templates name and objects do not have
- show-managed-fields bool false | show managedFields in JSON and YAML
- template string | template, or file with one, for -o go-template and -o go-template-file
"""
PRINT = (
    TEMPLATE
    + """
o output string | output format: json, yaml, kyaml, name, go-template, go-template-file, template, templatefile, jsonpath, jsonpath-as-json, jsonpath-file
"""
)
FILES = """
f filename list | files, directories or URLs
k kustomize string | directory with a kustomization
R recursive bool false | read directories given with -f recursively
"""
RECURSIVE_FILES = FILES.replace("bool false", "bool true")  # -k is refused unless it is switched off
DRY_RUN = """
- dry-run string?unchanged none | none, client (only print the object) or server (send it without storing it)
"""
VALIDATE = """
- validate string?strict strict | strict (or true): refuse unknown or repeated fields; warn: tell about them; ignore (or false)
"""
SELECTOR = """
l selector string | label query: =, ==, !=, in, notin (key1=value1,key2 in (value2))
"""
FIELD_SELECTOR = """
- field-selector string | field query: =, ==, != (key1=value1,key2=value2)
"""
ALL_NAMESPACES = """
A all-namespaces bool false | all namespaces, whatever --namespace says
"""
SAVE_CONFIG = """
- save-config bool false | keep the configuration in an annotation, for a later apply
"""
CHUNK = """
- chunk-size int 500 | fetch large lists in pieces of this size; 0 fetches all at once
"""
DELETION = """
- cascade string?background background | what happens to dependents: background, orphan or foreground
- force bool false | remove at once, without waiting for graceful deletion
- grace-period int -1 | seconds for graceful deletion; ignored if negative
- timeout duration 0s | how long to wait for deletion; 0 is a time that depends on the object
"""


def field_manager(name: str) -> str:
    """Return the flag that names the field manager, with a default."""
    return f"- field-manager string {name} | name under which ownership of fields is recorded\n"


RECORD = """
- record bool false |
"""
