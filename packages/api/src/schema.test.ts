import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  resourceTable,
  resourceTableOnRequest,
  resources,
  resourcesOnRequest,
} from './generated/resource-types.ts'
import { schemaNamed, schemaOf } from './schema.ts'

test('every kind of discovery has a schema with apiVersion, kind and metadata', () => {
  for (const { group, version, kind, subresources } of [
    ...resourceTable,
    ...resourceTableOnRequest,
  ]) {
    for (const type of [{ group, version, kind }, ...subresources]) {
      // Options of connect subresources travel as query parameters; no schema is published for them.
      if (/^(Pod|Node|Service).*Options$/.test(type.kind)) continue
      const schema = schemaOf(type.group, type.version, type.kind)
      const label = `${type.group}/${type.version} ${type.kind}`
      for (const property of ['apiVersion', 'kind', 'metadata']) {
        assert.ok(schema?.properties.has(property), `${label} ${property}`)
      }
    }
  }
})

test('a field tells its type, and how lists merge', () => {
  const pod = schemaOf('', 'v1', 'Pod')!
  assert.equal(pod.name, 'core-v1.Pod')
  const spec = pod.properties.get('spec')!.schema!
  assert.deepEqual(spec.required, ['containers'])
  const containers = spec.properties.get('containers')!
  assert.equal(containers.type, 'array')
  assert.equal(containers.patchMergeKey, 'name')
  assert.deepEqual(containers.patchStrategy, ['merge'])
  assert.equal(containers.listType, 'map')
  assert.deepEqual(containers.listMapKeys, ['name'])
  const container = containers.items!.schema!
  assert.deepEqual(container.properties.get('imagePullPolicy')!.enum, [
    'Always',
    'IfNotPresent',
    'Never',
  ])
  const limits = container.properties.get('resources')!.schema!.properties.get('limits')!
  assert.equal(limits.type, 'map')
  assert.equal(limits.values!.type, 'quantity')
  const metadata = schemaNamed('meta-v1.ObjectMeta')!
  assert.equal(metadata.properties.get('creationTimestamp')!.type, 'time')
  assert.equal(metadata.properties.get('finalizers')!.listType, 'set')
  assert.equal(pod.properties.get('metadata')!.schema, metadata)
  const nodeSelector = spec.properties.get('nodeSelector')!
  assert.equal(nodeSelector.mapType, 'atomic')
  assert.equal(schemaNamed('meta-v1.LabelSelector')!.mapType, 'atomic')
})

test('a schema that contains itself is one object', () => {
  const props = schemaNamed('apiextensions-v1.JSONSchemaProps')!
  assert.equal(props.properties.get('not')!.schema, props)
  assert.equal(props.properties.get('properties')!.values!.schema, props)
  assert.equal(props.properties.get('items')!.type, 'json-schema-or-array')
})

test('unknown kinds have none, and inherited names are no kinds', () => {
  assert.equal(schemaOf('example.com', 'v1', 'Foo'), undefined)
  assert.equal(schemaNamed('constructor'), undefined)
})

test('clashing plurals keep the core group and the preferred version under the plain name', () => {
  assert.equal(resources.events.group, '')
  assert.equal(resources.eventsV1.group, 'events.k8s.io')
  assert.equal(resources.horizontalpodautoscalers.version, 'v2')
  assert.equal(resources.horizontalpodautoscalersV1.version, 'v1')
  assert.equal(resourceTable.length, Object.keys(resources).length)
})

test('what is served on request only is not in the table of what is served', () => {
  assert.deepEqual(
    resourceTableOnRequest.map(({ group, version, kind }) => `${group}/${version} ${kind}`),
    [
      'certificates.k8s.io/v1beta1 ClusterTrustBundle',
      'certificates.k8s.io/v1beta1 PodCertificateRequest',
      'certificates.k8s.io/v1alpha1 ClusterTrustBundle',
      'networking.k8s.io/v1beta1 IPAddress',
      'networking.k8s.io/v1beta1 ServiceCIDR',
      'storage.k8s.io/v1beta1 VolumeAttributesClass',
      'admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy',
      'admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding',
      'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy',
      'admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding',
      'scheduling.k8s.io/v1alpha2 PodGroup',
      'scheduling.k8s.io/v1alpha2 Workload',
      'coordination.k8s.io/v1beta1 LeaseCandidate',
      'coordination.k8s.io/v1alpha2 LeaseCandidate',
      'resource.k8s.io/v1beta2 DeviceClass',
      'resource.k8s.io/v1beta2 DeviceTaintRule',
      'resource.k8s.io/v1beta2 ResourceClaim',
      'resource.k8s.io/v1beta2 ResourceClaimTemplate',
      'resource.k8s.io/v1beta2 ResourceSlice',
      'resource.k8s.io/v1beta1 DeviceClass',
      'resource.k8s.io/v1beta1 ResourceClaim',
      'resource.k8s.io/v1beta1 ResourceClaimTemplate',
      'resource.k8s.io/v1beta1 ResourceSlice',
      'resource.k8s.io/v1alpha3 DeviceTaintRule',
      'resource.k8s.io/v1alpha3 ResourcePoolStatusRequest',
      'internal.apiserver.k8s.io/v1alpha1 StorageVersion',
      'storagemigration.k8s.io/v1beta1 StorageVersionMigration',
    ],
  )
  assert.equal(resourcesOnRequest.leasecandidates.namespaced, true)
  const served = new Set(resourceTable.map(({ group, version }) => `${group}/${version}`))
  for (const { group, version } of resourceTableOnRequest)
    assert.equal(served.has(`${group}/${version}`), false)
})

test('kinds of subresources say where they come from', () => {
  const pods = resourceTable.find(({ group, resource }) => group === '' && resource === 'pods')!
  const eviction = pods.subresources.find(({ name }) => name === 'eviction')!
  assert.deepEqual([eviction.group, eviction.version, eviction.kind], ['policy', 'v1', 'Eviction'])
  const status = pods.subresources.find(({ name }) => name === 'status')!
  assert.deepEqual([status.group, status.version, status.kind], ['', 'v1', 'Pod'])
  const deployments = resourceTable.find(({ resource }) => resource === 'deployments')!
  assert.deepEqual(
    deployments.subresources.map(({ name, group }) => [name, group]),
    [
      ['scale', 'autoscaling'],
      ['status', 'apps'],
    ],
  )
})
