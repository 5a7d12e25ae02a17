// An API server as people aggregate them, made of k8s.io/apiserver: ships in etcd, with their status, scale and a subresource that
// one connects to, beside custom and external metrics. All it is told of the cluster is a kubeconfig.
//
//	aggregated-server --etcd-servers=URL --kubeconfig=FILE --authentication-kubeconfig=FILE --authorization-kubeconfig=FILE --secure-port=PORT --cert-dir=FOLDER
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/spf13/pflag"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/common"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() {
	for _, version := range []schema.GroupVersion{fleetV1, {Group: groupName, Version: runtime.APIVersionInternal}} {
		scheme.AddKnownTypes(version, &Ship{}, &ShipList{})
	}
	metav1.AddToGroupVersion(scheme, fleetV1)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	unversioned := schema.GroupVersion{Version: "v1"}
	scheme.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	must(scheme.SetVersionPriority(fleetV1))
	// One Go type for all versions: what is converted is copied.
	must(scheme.AddConversionFunc((*Ship)(nil), (*Ship)(nil), func(from, to any, _ conversion.Scope) error {
		*to.(*Ship) = *from.(*Ship).DeepCopyObject().(*Ship)
		return nil
	}))
	must(autoscalingv1.AddToScheme(scheme))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// withoutProtobuf: types that have no such form must not be offered in it.
type withoutProtobuf struct{ runtime.NegotiatedSerializer }

func (s withoutProtobuf) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

func main() {
	recommended := options.NewRecommendedOptions("/registry/"+groupName, codecs.LegacyCodec(fleetV1))
	flags := pflag.NewFlagSet("aggregated-server", pflag.ExitOnError)
	recommended.AddFlags(flags)
	klog.InitFlags(nil)
	flags.AddGoFlagSet(flag.CommandLine)
	must(flags.Parse(os.Args[1:]))
	for _, err := range recommended.Validate() {
		must(err)
	}
	must(recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("fleet.default.svc", nil, []net.IP{net.IPv4(127, 0, 0, 1)}))
	config := server.NewRecommendedConfig(codecs)
	getDefinitions := func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		all := generated.GetOpenAPIDefinitions(ref)
		for name, definition := range definitions(ref) {
			all[name] = definition
		}
		return all
	}
	namer := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = server.DefaultOpenAPIConfig(getDefinitions, namer)
	config.OpenAPIV3Config = server.DefaultOpenAPIV3Config(getDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "Fleet", "Fleet"
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	must(recommended.ApplyTo(config))
	api, err := config.Complete().New("aggregated-server", server.NewEmptyDelegate())
	must(err)
	group := server.NewDefaultAPIGroupInfo(groupName, scheme, metav1.ParameterCodec, codecs)
	storage, err := storages(scheme, config.RESTOptionsGetter)
	must(err)
	group.NegotiatedSerializer = withoutProtobuf{codecs}
	group.VersionedResourcesStorageMap["v1"] = map[string]rest.Storage(storage)
	must(api.InstallAPIGroup(&group))
	serveMetrics(api.Handler.NonGoRestfulMux, kubernetes.NewForConfigOrDie(config.ClientConfig))
	must(api.PrepareRun().RunWithContext(server.SetupSignalContext()))
}
