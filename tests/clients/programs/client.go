// What a person writes with client-go: informers, retries, server-side apply, the dynamic and the metadata client, discovery,
// watches, exec over both protocols, port-forward, events, leader election. Prints a line for each thing that worked.
//
//	client KUBECONFIG NAMESPACE [application/vnd.kubernetes.protobuf]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/remotecommand"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	"k8s.io/client-go/util/retry"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, seen ...any) {
	if !holds {
		panic(fmt.Sprint(seen...))
	}
}

func worked(what string) { fmt.Println("ok", what) }

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	defer cancel()
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	cfg.QPS, cfg.Burst = 200, 200
	dyn := dynamic.NewForConfigOrDie(cfg)
	md := metadata.NewForConfigOrDie(cfg)
	if len(os.Args) > 3 {
		cfg = rest.CopyConfig(cfg)
		cfg.ContentType, cfg.AcceptContentTypes = os.Args[3], os.Args[3]+",application/json"
	}
	cs := kubernetes.NewForConfigOrDie(cfg)
	ns := os.Args[2]
	_, err = cs.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	must(err)
	soon := func(check func(context.Context) (bool, error)) {
		must(wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 60*time.Second, true, check))
	}

	factory := informers.NewSharedInformerFactoryWithOptions(cs, 0, informers.WithNamespace(ns))
	pods := factory.Core().V1().Pods()
	var added, deleted atomic.Int32
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		check(synced, kind)
	}
	replicas := int32(2)
	labels := map[string]string{"app": "web"}
	web := corev1.Container{Name: "web", Image: "nginx", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{web}}},
	}}
	deployments := cs.AppsV1().Deployments(ns)
	deployment, err = deployments.Create(ctx, deployment, metav1.CreateOptions{})
	must(err)
	soon(func(ctx context.Context) (bool, error) {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2, err
	})
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	must(err)
	listed, err := pods.Lister().Pods(ns).List(selector)
	must(err)
	check(len(listed) == 2, listed)
	pod := listed[0].Name
	worked("informer and lister")

	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	must(err)
	scale.Spec.Replicas = 3
	_, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
	must(err)
	tries := 0
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		must(err)
		if tries++; tries == 1 {
			d.ResourceVersion = "1"
		}
		d.Annotations = map[string]string{"touched": "yes"}
		_, err = deployments.Update(ctx, d, metav1.UpdateOptions{})
		return err
	}))
	check(tries >= 2, tries)
	worked("scale and retry on conflict")

	maps := cs.CoreV1().ConfigMaps(ns)
	intent := func(value string) *applycore.ConfigMapApplyConfiguration {
		return applycore.ConfigMap("map", ns).WithData(map[string]string{"a": value})
	}
	applied, err := maps.Apply(ctx, intent("1"), metav1.ApplyOptions{FieldManager: "me"})
	must(err)
	_, err = maps.Apply(ctx, intent("2"), metav1.ApplyOptions{FieldManager: "you"})
	check(errors.IsConflict(err) && strings.Contains(err.Error(), `conflict with "me": .data.a`), err)
	extracted, err := applycore.ExtractConfigMap(applied, "me")
	must(err)
	check(extracted.Data["a"] == "1", extracted)
	_, err = maps.Apply(ctx, intent("2"), metav1.ApplyOptions{FieldManager: "you", Force: true})
	must(err)
	var patched *corev1.ConfigMap
	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"add","path":"/data/j","value":"1"}]`,
		types.MergePatchType:          `{"data":{"m":"1"}}`,
		types.StrategicMergePatchType: `{"data":{"s":"1"}}`,
	} {
		patched, err = maps.Patch(ctx, "map", kind, []byte(patch), metav1.PatchOptions{})
		must(err)
	}
	check(len(patched.Data) == 4, patched.Data)
	worked("apply and patches")

	crds := dyn.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	crd := &unstructured.Unstructured{}
	must(json.Unmarshal([]byte(strings.ReplaceAll(definition, "GROUP", ns+".example.com")), &crd.Object))
	_, err = crds.Create(ctx, crd, metav1.CreateOptions{})
	must(err)
	watching := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return crds.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return crds.Watch(ctx, o) },
	}
	_, err = watchtools.UntilWithSync(ctx, watching, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		object := e.Object.(*unstructured.Unstructured)
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, c := range conditions {
			if m := c.(map[string]any); object.GetName() == crd.GetName() && m["type"] == "Established" && m["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	must(err)
	kind := schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "widgets"}
	widget := func(size any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.Group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"size": size}}}
	}
	widgets := dyn.Resource(kind).Namespace(ns)
	informed := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dyn, 0, ns, nil)
	store := informed.ForResource(kind).Informer().GetStore()
	stop := make(chan struct{})
	informed.Start(stop)
	check(informed.WaitForCacheSync(ctx.Done())[kind], "not synced")
	_, err = widgets.Apply(ctx, "w", widget(int64(3)), metav1.ApplyOptions{FieldManager: "me"})
	must(err)
	soon(func(context.Context) (bool, error) { return len(store.List()) == 1, nil })
	_, err = widgets.Apply(ctx, "w", widget("three"), metav1.ApplyOptions{FieldManager: "me"})
	check(err != nil && strings.Contains(err.Error(), ".spec.size: expected numeric"), err)
	_, err = widgets.Create(ctx, &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.Group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{"size": "three"}}}, metav1.CreateOptions{})
	check(errors.IsInvalid(err), err)
	worked("a custom kind through the dynamic client")

	partial, err := md.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(ns).List(ctx, metav1.ListOptions{})
	must(err)
	check(len(partial.Items) == 1 && partial.Items[0].Name == "web", partial)
	partialWatch, err := md.Resource(kind).Namespace(ns).Watch(ctx, metav1.ListOptions{})
	must(err)
	first := <-partialWatch.ResultChan()
	check(first.Type == watch.Added && first.Object.(*metav1.PartialObjectMetadata).Name == "w", first)
	partialWatch.Stop()
	worked("metadata client")

	discovered := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(cfg))
	mapping, err := restmapper.NewDeferredDiscoveryRESTMapper(discovered).RESTMapping(schema.GroupKind{Group: kind.Group, Kind: "Widget"})
	must(err)
	check(mapping.Resource == kind, mapping)
	version, err := discovered.ServerVersion()
	must(err)
	check(strings.HasPrefix(version.GitVersion, "v1.36."), version)
	_, err = discovered.OpenAPISchema()
	must(err)
	_, err = discovered.OpenAPIV3().Paths()
	must(err)
	worked("discovery")

	page, err := cs.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{Limit: 10})
	must(err)
	check(len(page.Items) == 10 && page.Continue != "" && *page.RemainingItemCount > 0, page.ListMeta)
	yes := true
	streamed, err := maps.Watch(ctx, metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	must(err)
	for event := range streamed.ResultChan() {
		if event.Type == watch.Bookmark {
			check(event.Object.(*corev1.ConfigMap).Annotations["k8s.io/initial-events-end"] == "true", event)
			break
		}
		check(event.Type == watch.Added, event)
	}
	streamed.Stop()
	worked("pages and streamed lists")

	core := cs.CoreV1().RESTClient()
	request := func(subresource string) *rest.Request {
		return core.Post().Resource("pods").Namespace(ns).Name(pod).SubResource(subresource)
	}
	execution := request("exec").VersionedParams(&corev1.PodExecOptions{Command: []string{"sh", "-c", "cat; echo err >&2; exit 5"}, Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	spdyExecutor, err := remotecommand.NewSPDYExecutor(cfg, "POST", execution)
	must(err)
	webSocketExecutor, err := remotecommand.NewWebSocketExecutor(cfg, "GET", execution.String())
	must(err)
	for _, executor := range []remotecommand.Executor{spdyExecutor, webSocketExecutor} {
		var stdout, stderr bytes.Buffer
		err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader("typed\n"), Stdout: &stdout, Stderr: &stderr})
		code, is := err.(exec.CodeExitError)
		check(is && code.Code == 5 && stdout.String() == "typed\n" && stderr.String() == "err\n", stdout.String(), stderr.String(), err)
	}
	worked("exec over SPDY and WebSocket")

	transport, upgrader, err := spdy.RoundTripperFor(cfg)
	must(err)
	spdyDialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", request("portforward").URL())
	tunnel, err := portforward.NewSPDYOverWebsocketDialer(request("portforward").URL(), cfg)
	must(err)
	for _, dialer := range []httpstream.Dialer{spdyDialer, tunnel} {
		stop, ready := make(chan struct{}), make(chan struct{})
		forwarder, err := portforward.New(dialer, []string{"0:80"}, stop, ready, io.Discard, os.Stderr)
		must(err)
		failed := make(chan error, 1)
		go func() { failed <- forwarder.ForwardPorts() }()
		select {
		case err := <-failed:
			panic(err)
		case <-ready:
		}
		ports, err := forwarder.GetPorts()
		must(err)
		for range 3 {
			answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local))
			must(err)
			text, err := io.ReadAll(answer.Body)
			must(err)
			check(strings.HasPrefix(string(text), "simulated pod "+ns+"/"+pod), string(text))
			answer.Body.Close()
		}
		close(stop)
	}
	worked("port-forward over SPDY and WebSocket")

	log, err := cs.CoreV1().Pods(ns).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(ctx)
	must(err)
	check(strings.HasPrefix(string(log), "simulated container web"), string(log))
	proxied, err := cs.CoreV1().Pods(ns).ProxyGet("http", pod, "80", "/page", nil).DoRaw(ctx)
	must(err)
	check(strings.HasSuffix(string(proxied), "GET /page\n"), string(proxied))
	worked("logs and proxy")

	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: cs.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "client"})
	deployment, err = deployments.Get(ctx, "web", metav1.GetOptions{})
	must(err)
	for range 3 {
		recorder.Event(deployment, "Normal", "Greeted", "hello")
	}
	soon(func(ctx context.Context) (bool, error) {
		events, err := cs.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=Greeted"})
		return err == nil && len(events.Items) == 1 && events.Items[0].Count == 3, err
	})
	worked("events")

	electing, resign := context.WithCancel(ctx)
	told := make(chan string, 2)
	lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "lock", Namespace: ns}, Client: cs.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
	go leaderelection.RunOrDie(electing, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { told <- "leads" }, OnStoppedLeading: func() { told <- "stopped" }},
	})
	check(<-told == "leads")
	lease, err := cs.CoordinationV1().Leases(ns).Get(ctx, "lock", metav1.GetOptions{})
	must(err)
	check(*lease.Spec.HolderIdentity == "me", lease)
	resign()
	check(<-told == "stopped")
	worked("leader election")

	must(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	must(cs.PolicyV1().Evictions(ns).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: ns}}))
	foreground := metav1.DeletePropagationForeground
	must(deployments.Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	soon(func(context.Context) (bool, error) {
		return len(pods.Informer().GetStore().List()) == 0 && added.Load() == deleted.Load(), nil
	})
	close(stop)
	must(crds.Delete(ctx, crd.GetName(), metav1.DeleteOptions{}))
	must(cs.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}))
	worked("deletions")
}

const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.GROUP"},
 "spec": {"group": "GROUP", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
  "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
   "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}}]}}`
