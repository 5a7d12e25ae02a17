package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapi "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const groupName = "fleet.example.com"

var fleetV1 = schema.GroupVersion{Group: groupName, Version: "v1"}

type Ship struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShipSpec   `json:"spec,omitempty"`
	Status            ShipStatus `json:"status,omitempty"`
}

type ShipSpec struct {
	Crew  int32   `json:"crew,omitempty"`
	Cargo []Cargo `json:"cargo,omitempty"`
}

type Cargo struct {
	Name string `json:"name"`
	Tons int32  `json:"tons,omitempty"`
}

type ShipStatus struct {
	Crew       int32              `json:"crew,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type ShipList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Ship `json:"items"`
}

func (s *Ship) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Cargo = append([]Cargo(nil), s.Spec.Cargo...)
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &out
}

func (l *ShipList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Ship, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Ship)
	}
	return &out
}

// definitions are what openapi-gen would have written.
func definitions(ref openapi.ReferenceCallback) map[string]openapi.OpenAPIDefinition {
	integer, text := spec.Int32Property(), spec.StringProperty()
	const here, meta = "com.example.fleet.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1."
	cargo := spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(here + "Cargo"), Default: map[string]any{}}})
	cargo.Extensions = spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}
	conditions := spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(meta + "Condition"), Default: map[string]any{}}})
	conditions.Extensions = spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"type"}}
	refTo := func(name string) spec.Schema {
		return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name), Default: map[string]any{}}}
	}
	object := func(description string, properties map[string]spec.Schema, dependencies ...string) openapi.OpenAPIDefinition {
		return openapi.OpenAPIDefinition{
			Schema: spec.Schema{SchemaProps: spec.SchemaProps{
				Description: description, Type: []string{"object"}, Properties: properties,
			}},
			Dependencies: dependencies,
		}
	}
	crew := *integer
	crew.Description = "How many are aboard."
	return map[string]openapi.OpenAPIDefinition{
		here + "Ship": object("Ship is one that is at sea.", map[string]spec.Schema{
			"apiVersion": *text, "kind": *text,
			"metadata": refTo(meta + "ObjectMeta"), "spec": refTo(here + "ShipSpec"), "status": refTo(here + "ShipStatus"),
		}, meta+"ObjectMeta", here+"ShipSpec", here+"ShipStatus"),
		here + "ShipSpec":   object("ShipSpec is what a ship is to be.", map[string]spec.Schema{"crew": crew, "cargo": *cargo}, here+"Cargo"),
		here + "Cargo":      object("Cargo is what a ship carries.", map[string]spec.Schema{"name": *text, "tons": *integer}),
		here + "ShipStatus": object("ShipStatus is what a ship is.", map[string]spec.Schema{"crew": crew, "conditions": *conditions}, meta+"Condition"),
		here + "ShipList": object("ShipList is a list of ships.", map[string]spec.Schema{
			"apiVersion": *text, "kind": *text, "metadata": refTo(meta + "ListMeta"),
			"items": *spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(here + "Ship"), Default: map[string]any{}}}),
		}, meta+"ListMeta", here+"Ship"),
	}
}

func (Ship) OpenAPIModelName() string       { return "com.example.fleet.v1.Ship" }
func (ShipList) OpenAPIModelName() string   { return "com.example.fleet.v1.ShipList" }
func (ShipSpec) OpenAPIModelName() string   { return "com.example.fleet.v1.ShipSpec" }
func (ShipStatus) OpenAPIModelName() string { return "com.example.fleet.v1.ShipStatus" }
func (Cargo) OpenAPIModelName() string      { return "com.example.fleet.v1.Cargo" }
