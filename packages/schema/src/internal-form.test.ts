import assert from 'node:assert/strict'
import { test } from 'node:test'
import { internalDiff, internalForm } from './internal-form.ts'

test('absent fields are there, in Go order and spelling', () => {
  assert.deepEqual(internalForm({ emptyDir: {}, name: 'v' }, 'Volume').EmptyDir, {
    Medium: '',
    SizeLimit: null,
  })
  assert.equal(
    JSON.stringify(internalForm({ containerPort: 80, hostIP: '::' }, 'ContainerPort')),
    '{"Name":"","HostPort":0,"ContainerPort":80,"Protocol":"","HostIP":"::"}',
  )
  const spec = internalForm(
    { hostNetwork: true, securityContext: {}, dnsPolicy: 'Default' },
    'PodSpec',
  )
  assert.equal(spec.DNSPolicy, 'Default')
  assert.equal(spec.SecurityContext.HostNetwork, true)
  assert.equal(spec.SecurityContext.HostPID, false)
})

test('maps are printed by key', () => {
  assert.equal(
    JSON.stringify(
      internalForm({ limits: { memory: '1', cpu: '2' } }, 'VolumeResourceRequirements'),
    ),
    '{"Limits":{"cpu":"2","memory":"1"},"Requests":null}',
  )
})

test('a difference has three lines around it', () => {
  const before = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 }
  assert.equal(
    internalDiff(before, { ...before, d: 0 }),
    '@@ -2,7 +2,7 @@\n  "a": 1,\n  "b": 2,\n  "c": 3,\n- "d": 4,\n+ "d": 0,\n  "e": 5,\n  "f": 6,\n  "g": 7\n',
  )
  assert.equal(internalDiff(before, before), '')
})

test('differences far apart stand in hunks of their own', () => {
  const before = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]))
  const diff = internalDiff(before, { ...before, k0: 'x', k19: 'y' })
  assert.equal(diff.match(/^@@/gm)?.length, 2)
})

test('a text of many small changes has its difference, however many they are', () => {
  const lines = Array.from({ length: 8_000 }, (_, index) => [`a${index}`, `b${index}`]).flat()
  const changed = lines.map((line) => line.replace('a', 'c'))
  const diff = internalDiff(lines, changed)
  assert.equal(diff.match(/^- "a\d+"/gm)?.length, 8_000)
  assert.equal(diff.match(/^\+ "c\d+"/gm)?.length, 8_000)
  assert.equal(diff.match(/^@@ .*/gm)?.join(), '@@ -1,16002 +1,16002 @@')
})

test('metadata stands among the fields; opaque parameters keep their names; HTML is escaped in differences', () => {
  assert.deepEqual(
    Object.keys(
      internalForm(
        { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } } },
        'ResourceClaimTemplateSpec',
      ),
    ),
    ['labels', 'annotations', 'Spec'],
  )
  assert.deepEqual(
    internalForm({ opaque: { driver: 'd', parameters: { a: 1 } } }, 'DeviceClaimConfiguration'),
    { Requests: null, Opaque: { Driver: 'd', Parameters: { a: 1 } } },
  )
  assert.deepEqual(internalForm({ hostPath: { path: '/' }, flocker: {} }, 'Volume')['Flocker'], {
    DatasetName: '',
    DatasetUUID: '',
  })
  assert.equal(
    internalDiff({ A: '<' }, { A: '&' }),
    '@@ -1,3 +1,3 @@\n {\n- "A": "\\u003c"\n+ "A": "\\u0026"\n }\n',
  )
})
