import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestGraph, object, ref } from '../fixtures.ts'
import { graphvizOf } from './graphviz.ts'

/** As kube-controller-manager 1.36.2 showed a ConfigMap that is held in deletion and whose owner was gone, and its like. */
test('nodes and arrows are told by uid, with owners that are missing', () => {
  const graph = new TestGraph()
  const own = (apiVersion: string, kind: string, name: string) => ref(name, { apiVersion, kind })
  const gone = own('v1', 'ConfigMap', 'own')
  const config = { kind: 'ConfigMap', namespace: 'default' }
  graph.add(object('own', { ...config, deleting: true, finalizers: ['foregroundDeletion'] }))
  graph.add(object('dep', { ...config, deleting: true, owners: [gone] }))
  graph.add(object('alone', config))
  graph.add(object('v', { ...config, owners: [own('nosuch.io/v1', 'Foo', 'fo')] }))
  const before = graphvizOf(graph.graph)
  assert.ok(
    before.includes(
      'label="uid=own-uid\\nnamespace=default\\nConfigMap.v1/own\\nbeingDeleted,deletingDependents\\n"',
    ),
  )
  graph.delete(object('own', config))
  assert.equal(
    graphvizOf(graph.graph),
    `strict digraph full {
  // Node definitions.
  "dep-uid" [
    label="uid=dep-uid\\nnamespace=default\\nConfigMap.v1/dep\\nbeingDeleted\\n"
    group=""
    version="v1"
    kind="ConfigMap"
    namespace="default"
    name="dep"
    uid="dep-uid"
    missing="false"
    beingDeleted="true"
    deletingDependents="false"
    virtual="false"
  ];
  "fo-uid" [
    label="uid=fo-uid\\nnamespace=default\\nFoo.v1.nosuch.io/fo\\nvirtual\\n"
    group="nosuch.io"
    version="v1"
    kind="Foo"
    namespace="default"
    name="fo"
    uid="fo-uid"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="true"
  ];
  "own-uid" [
    label="uid=own-uid\\nnamespace=\\nConfigMap.v1/own\\nmissingFromGraph\\n"
    group=""
    version="v1"
    kind="ConfigMap"
    namespace=""
    name="own"
    uid="own-uid"
    missing="true"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "v-uid" [
    label="uid=v-uid\\nnamespace=default\\nConfigMap.v1/v\\n"
    group=""
    version="v1"
    kind="ConfigMap"
    namespace="default"
    name="v"
    uid="v-uid"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  // Edge definitions.
  "dep-uid" -> "own-uid";
  "v-uid" -> "fo-uid";
}
`,
  )
  assert.equal(graphvizOf(graph.graph, ['nobody']), 'strict digraph full {\n}\n')
})
