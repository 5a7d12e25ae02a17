"""What a person writes with Debian's python3-kubernetes: a watch, commands in a pod, ports, logs, patches, an eviction.

Prints a line for each thing that worked.

    python3 client.py KUBECONFIG NAMESPACE
"""

import sys
import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.stream import portforward, stream

kubeconfig, namespace = sys.argv[1:]
config.load_kube_config(kubeconfig)
core, apps = client.CoreV1Api(), client.AppsV1Api()


def worked(what):
    print("ok", what, flush=True)


core.create_namespace({"metadata": {"name": namespace}})
version = core.list_namespaced_pod(namespace).metadata.resource_version
labels = {"app": "web"}
container = {"name": "web", "image": "nginx", "ports": [{"containerPort": 80}]}
apps.create_namespaced_deployment(namespace, {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    },
})


def is_ready(pod):
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions or [])


watching = watch.Watch()
for event in watching.stream(core.list_namespaced_pod, namespace, label_selector="app=web",
                             resource_version=version, timeout_seconds=60):
    if is_ready(event["object"]):
        watching.stop()
pod = event["object"].metadata.name
assert is_ready(event["object"])
worked("watch from a version")

EXEC = core.connect_get_namespaced_pod_exec


def run(command, typed=None, tty=False):
    streams = {"stdout": True, "stderr": not tty, "stdin": typed is not None, "tty": tty}
    answer = stream(EXEC, pod, namespace, command=command, _preload_content=False, **streams)
    if tty:
        answer.write_channel(4, '{"Width":80,"Height":24}')
    if typed is not None:
        answer.write_stdin(typed)
    answer.run_forever(timeout=30)
    assert not answer.is_open()
    return answer.read_channel(1), answer.read_channel(2), answer.returncode


text = stream(EXEC, pod, namespace, command=["echo", "hello"], stdout=True, stderr=True,
              stdin=False, tty=False)
assert text == "hello\n", text
assert run(["sh", "-c", "echo out; echo err >&2; exit 4"]) == ("out\n", "err\n", 4)
assert run(["sh"], "echo from stdin\nexit 5\n") == ("from stdin\n", "", 5)
out, _, code = run(["sh"], "echo in a terminal\nexit\n", tty=True)
assert "\r\nin a terminal\r\n" in out and code == 0, out
worked("exec")

attached = stream(core.connect_get_namespaced_pod_attach, pod, namespace, stdout=True, stderr=True,
                  stdin=False, tty=False, _preload_content=False)
assert attached.is_open()
attached.close()
worked("attach")

forwarded = portforward(core.connect_get_namespaced_pod_portforward, pod, namespace, ports="80")
socket = forwarded.socket(80)
socket.setblocking(True)
socket.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
answer = b""
while chunk := socket.recv(1024):
    answer += chunk
assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"port 80, GET /page\n"), answer
assert forwarded.error(80) is None
worked("port-forward")

assert core.read_namespaced_pod_log(pod, namespace, tail_lines=1).startswith("simulated container")
lines = []


def follow():
    for line in watch.Watch().stream(core.read_namespaced_pod_log, name=pod, namespace=namespace):
        lines.append(line)


following = threading.Thread(target=follow)
following.start()
proxied = core.connect_get_namespaced_pod_proxy(pod + ":80", namespace)
assert f"simulated pod {namespace}/{pod}" in proxied, proxied

core.create_namespaced_config_map(namespace, {"metadata": {"name": "patched"}, "data": {"a": "1"}})
patch = core.patch_namespaced_config_map
assert patch("patched", namespace, {"data": {"b": "2"}}).data == {"a": "1", "b": "2"}
assert patch("patched", namespace, [{"op": "remove", "path": "/data/a"}]).data == {"b": "2"}
maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
intent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "patched"}}
applied = maps.server_side_apply({**intent, "data": {"c": "3"}}, name="patched",
                                 namespace=namespace, field_manager="me")
assert dict(applied.data) == {"b": "2", "c": "3"}
try:
    maps.server_side_apply({**intent, "data": {"c": "4"}}, name="patched", namespace=namespace,
                           field_manager="other")
    raise AssertionError("no conflict")
except dynamic.exceptions.ConflictError as error:
    assert b'conflict with \\"me\\": .data.c' in error.body, error.body
worked("patches")

try:
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "patched"}})
    raise AssertionError("made twice")
except client.ApiException as error:
    assert (error.status, error.reason) == (409, "Conflict")
nodes = client.CustomObjectsApi().list_cluster_custom_object("metrics.k8s.io", "v1beta1", "nodes")
assert nodes["items"][0]["usage"]["cpu"]
review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
access = client.AuthorizationV1Api().create_self_subject_access_review(review)
assert access.status.allowed
worked("refusals, metrics and access reviews")

core.create_namespaced_pod_eviction(pod, namespace, {"metadata": {"name": pod}})
apps.delete_namespaced_deployment("web", namespace, propagation_policy="Foreground")
following.join(60)
assert not following.is_alive() and lines[0].startswith("simulated container"), lines
core.delete_namespace(namespace)
worked("eviction ends what is followed")
