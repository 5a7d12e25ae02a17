package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/client-go/kubernetes"
	custom "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	external "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
)

const customPath, externalPath = "/apis/custom.metrics.k8s.io/v1beta2", "/apis/external.metrics.k8s.io/v1beta1"

// serveMetrics answers for what autoscalers ask: of every object `speed` is 30, and outside there are 90 waves. Groups that no
// aggregated discovery of this server knows, and that are described nowhere.
func serveMetrics(at *mux.PathRecorderMux, client kubernetes.Interface) {
	list := func(groupVersion string, entries ...metav1.APIResource) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			answer(w, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: groupVersion, APIResources: entries})
		}
	}
	verbs := metav1.Verbs{"get"}
	at.HandleFunc(customPath, list("custom.metrics.k8s.io/v1beta2", metav1.APIResource{Name: "pods/speed", Namespaced: true, Kind: "MetricValueList", Verbs: verbs}, metav1.APIResource{Name: "services/speed", Namespaced: true, Kind: "MetricValueList", Verbs: verbs}))
	at.HandleFunc(externalPath, list("external.metrics.k8s.io/v1beta1", metav1.APIResource{Name: "waves", Namespaced: true, Kind: "ExternalMetricValueList", Verbs: verbs}))
	at.HandlePrefix(customPath+"/", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// namespaces/NAMESPACE/RESOURCE/NAME/METRIC
		parts := strings.Split(strings.TrimPrefix(q.URL.Path, customPath+"/"), "/")
		if len(parts) != 5 {
			http.NotFound(w, q)
			return
		}
		values := custom.MetricValueList{TypeMeta: metav1.TypeMeta{Kind: "MetricValueList", APIVersion: "custom.metrics.k8s.io/v1beta2"}}
		of := []string{parts[3]}
		if parts[3] == "*" {
			pods, err := client.CoreV1().Pods(parts[1]).List(q.Context(), metav1.ListOptions{LabelSelector: q.URL.Query().Get("labelSelector")})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			of = nil
			for _, pod := range pods.Items {
				of = append(of, pod.Name)
			}
		}
		for _, name := range of {
			value := custom.MetricValue{Metric: custom.MetricIdentifier{Name: parts[4]}, Timestamp: metav1.Now(), Value: resource.MustParse("30")}
			value.DescribedObject.Kind, value.DescribedObject.Namespace, value.DescribedObject.Name = strings.ToUpper(parts[2][:1])+strings.TrimSuffix(parts[2][1:], "s"), parts[1], name
			values.Items = append(values.Items, value)
		}
		answer(w, values)
	}))
	at.HandlePrefix(externalPath+"/", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		answer(w, external.ExternalMetricValueList{
			TypeMeta: metav1.TypeMeta{Kind: "ExternalMetricValueList", APIVersion: "external.metrics.k8s.io/v1beta1"},
			Items:    []external.ExternalMetricValue{{MetricName: "waves", Timestamp: metav1.Now(), Value: resource.MustParse("90")}},
		})
	}))
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}
