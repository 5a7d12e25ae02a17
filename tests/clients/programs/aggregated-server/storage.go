package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	// status: whether it is of the subresource.
	status bool
}

func (strategy) NamespaceScoped() bool { return true }
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	ship := obj.(*Ship)
	ship.Status, ship.Generation = ShipStatus{}, 1
}
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	ship, before := obj.(*Ship), old.(*Ship)
	if s.status {
		ship.Spec, ship.Labels = before.Spec, before.Labels
		return
	}
	ship.Status = before.Status
	if ship.Spec.Crew != before.Spec.Crew {
		ship.Generation = before.Generation + 1
	}
}
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	if crew := obj.(*Ship).Spec.Crew; crew < 0 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "crew"), crew, "nobody sails with fewer than none")}
	}
	return nil
}
func (s strategy) ValidateUpdate(ctx context.Context, obj, _ runtime.Object) field.ErrorList {
	return s.Validate(ctx, obj)
}
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	if obj.(*Ship).Spec.Crew == 0 {
		return []string{"spec.crew: a ghost ship"}
	}
	return nil
}
func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
func (strategy) AllowCreateOnUpdate() bool      { return false }
func (strategy) AllowUnconditionalUpdate() bool { return true }
func (strategy) Canonicalize(runtime.Object)    {}
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	reset := fieldpath.MakePathOrDie("status")
	if s.status {
		reset = fieldpath.MakePathOrDie("spec")
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{"fleet.example.com/v1": fieldpath.NewSet(reset)}
}

type shipStore struct{ *registry.Store }

func (shipStore) ShortNames() []string { return []string{"sh"} }
func (shipStore) Categories() []string { return []string{"all"} }

type columns struct{}

func (columns) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name"}, {Name: "Crew", Type: "integer"}, {Name: "Tons", Type: "integer"},
	}}
	row := func(ship *Ship) {
		var tons int32
		for _, cargo := range ship.Spec.Cargo {
			tons += cargo.Tons
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{ship.Name, ship.Spec.Crew, tons}, Object: runtime.RawExtension{Object: ship}})
	}
	switch given := object.(type) {
	case *Ship:
		table.ResourceVersion = given.ResourceVersion
		row(given)
	case *ShipList:
		table.ResourceVersion, table.Continue, table.RemainingItemCount = given.ResourceVersion, given.Continue, given.RemainingItemCount
		for i := range given.Items {
			row(&given.Items[i])
		}
	}
	return table, nil
}

func storages(scheme *runtime.Scheme, getter generic.RESTOptionsGetter) (map[string]rest.Storage, error) {
	of := strategy{scheme, names.SimpleNameGenerator, false}
	store := &registry.Store{
		NewFunc: func() runtime.Object { return &Ship{} }, NewListFunc: func() runtime.Object { return &ShipList{} },
		DefaultQualifiedResource: schema.GroupResource{Group: groupName, Resource: "ships"}, SingularQualifiedResource: schema.GroupResource{Group: groupName, Resource: "ship"},
		CreateStrategy: of, UpdateStrategy: of, DeleteStrategy: of, ResetFieldsStrategy: of, TableConvertor: columns{},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return nil, err
	}
	status := *store
	ofStatus := strategy{scheme, names.SimpleNameGenerator, true}
	status.UpdateStrategy, status.ResetFieldsStrategy = ofStatus, ofStatus
	return map[string]rest.Storage{
		"ships": shipStore{store}, "ships/status": &statusREST{&status}, "ships/scale": &scaleREST{store}, "ships/hail": &hailREST{store},
	}, nil
}

type statusREST struct{ store *registry.Store }

func (r *statusREST) New() runtime.Object { return &Ship{} }
func (r *statusREST) Destroy()            {}
func (r *statusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}
func (r *statusREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}
func (r *statusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}
func (r *statusREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}

type scaleREST struct{ store *registry.Store }

func (r *scaleREST) New() runtime.Object { return &autoscalingv1.Scale{} }
func (r *scaleREST) Destroy()            {}
func (r *scaleREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}
func (r *scaleREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	object, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(object.(*Ship)), nil
}
func (r *scaleREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	object, _, err := r.store.Update(ctx, name, &scaledShip{info}, create, rest.ValidateAllObjectUpdateFunc, false, options)
	if err != nil {
		return nil, false, err
	}
	return scaleOf(object.(*Ship)), false, nil
}
func (r *scaleREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(schema.GroupResource{Group: groupName, Resource: "ships"}).ConvertToTable(ctx, object, options)
}

func scaleOf(ship *Ship) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: ship.Name, Namespace: ship.Namespace, UID: ship.UID, ResourceVersion: ship.ResourceVersion, CreationTimestamp: ship.CreationTimestamp},
		Spec:       autoscalingv1.ScaleSpec{Replicas: ship.Spec.Crew},
		Status:     autoscalingv1.ScaleStatus{Replicas: ship.Status.Crew, Selector: "ship=" + ship.Name},
	}
}

type scaledShip struct{ info rest.UpdatedObjectInfo }

func (s *scaledShip) Preconditions() *metav1.Preconditions { return s.info.Preconditions() }
func (s *scaledShip) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	ship := old.DeepCopyObject().(*Ship)
	scaled, err := s.info.UpdatedObject(ctx, scaleOf(ship))
	if err != nil {
		return nil, err
	}
	scale := scaled.(*autoscalingv1.Scale)
	ship.Spec.Crew = scale.Spec.Replicas
	ship.ResourceVersion = scale.ResourceVersion
	return ship, nil
}

// hailREST says what it was told back, over plain HTTP, a WebSocket (v5.channel.k8s.io) or SPDY as exec speaks it.
type hailREST struct{ store *registry.Store }

func (r *hailREST) New() runtime.Object      { return &Ship{} }
func (r *hailREST) Destroy()                 {}
func (r *hailREST) ConnectMethods() []string { return []string{"GET", "POST"} }
func (r *hailREST) NewConnectOptions() (runtime.Object, bool, string) {
	return nil, false, ""
}
func (r *hailREST) Connect(ctx context.Context, name string, _ runtime.Object, responder rest.Responder) (http.Handler, error) {
	if _, err := r.store.Get(ctx, name, &metav1.GetOptions{}); err != nil {
		return nil, err
	}
	asker, _ := request.UserFrom(ctx)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if wsstream.IsWebSocketRequest(q) {
			channels := make([]wsstream.ChannelType, 256)
			channels[0], channels[1], channels[3] = wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel
			channels[255] = wsstream.ReadWriteChannel
			conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v5.channel.k8s.io": {Binary: true, Channels: channels}})
			_, streams, err := conn.Open(w, q)
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.Copy(streams[1], streams[0])
			_, _ = streams[3].Write([]byte(`{"metadata":{},"status":"Success"}`))
			return
		}
		if httpstream.IsUpgradeRequest(q) {
			if _, err := httpstream.Handshake(q, w, []string{"v4.channel.k8s.io"}); err != nil {
				return
			}
			streams := make(chan httpstream.Stream, 8)
			conn := spdy.NewResponseUpgrader().UpgradeResponse(w, q, func(stream httpstream.Stream, replySent <-chan struct{}) error {
				go func() { <-replySent; streams <- stream }()
				return nil
			})
			if conn == nil {
				return
			}
			defer conn.Close()
			named := map[string]httpstream.Stream{}
			for len(named) < 3 {
				select {
				case stream := <-streams:
					named[stream.Headers().Get("streamType")] = stream
				case <-conn.CloseChan():
					return
				}
			}
			_, _ = io.Copy(named["stdout"], named["stdin"])
			_, _ = named["error"].Write([]byte(`{"metadata":{},"status":"Success"}`))
			_ = named["stdout"].Close()
			_ = named["error"].Close()
			<-conn.CloseChan()
			return
		}
		fmt.Fprintf(w, "%s hails %s by %s\n", asker.GetName(), name, q.Method)
		_, _ = io.Copy(w, q.Body)
	}), nil
}
