import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { context, created, decoded, podSpec } from '../../fixtures.ts'
import { pod as rules } from './index.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }
const requests = { cpu: '1', memory: '1Gi' }

function through(
  subresource: string,
  before: Draft,
  after: Draft,
): { pod: Draft; errors: string[] } {
  const stored = created(POD, before)
  const pod = decoded(POD, after)
  pod.metadata = { ...stored.metadata, ...pod.metadata }
  const part = rules.subresources![subresource]!
  part.prepareForUpdate!(pod, stored, context)
  const errors = new FieldErrors()
  part.validateUpdate!(pod, stored, errors, context)
  return { pod, errors: errors.list.map(({ field, message }) => `${field}: ${message}`) }
}

test('Given a resize, then cpu and memory change, and nothing else that was sent.', () => {
  const { pod, errors } = through(
    'resize',
    { metadata: { labels: { a: 'b' } }, spec: podSpec({ resources: { requests } }) },
    {
      metadata: { labels: { c: 'd' } },
      spec: podSpec({ image: 'other', resources: { requests: { ...requests, cpu: '2' } } }),
    },
  )
  assert.deepEqual(errors, [])
  assert.equal(pod.spec.containers[0].resources.requests.cpu, '2')
  assert.equal(pod.spec.containers[0].image, 'nginx:1.27')
  assert.deepEqual(pod.metadata.labels, { a: 'b' })
})

test('what cannot be resized', () => {
  const before = podSpec({ resources: { requests } })
  const cases: readonly (readonly [Draft, Draft, readonly string[]])[] = [
    [
      { spec: before },
      { spec: podSpec({ resources: { requests: { memory: '1Gi' } } }) },
      ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'],
    ],
    [
      { spec: before },
      { spec: podSpec({ resources: { requests, limits: requests } }) },
      ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      { spec: before },
      {
        spec: podSpec({
          resources: {
            requests: { ...requests, 'example.com/a': '1' },
            limits: { 'example.com/a': '1' },
          },
        }),
      },
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
    [
      { spec: before },
      { spec: { containers: [...before.containers, { name: 'd', image: 'x' }] } },
      ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    ],
    [
      { spec: before },
      { spec: podSpec({ name: 'd', resources: { requests } }) },
      ['spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize'],
    ],
    [
      { spec: { ...before, initContainers: [{ name: 'i', image: 'x' }] } },
      { spec: { ...before, initContainers: [{ name: 'i', image: 'x', resources: { requests } }] } },
      [],
    ],
    [
      { metadata: { annotations: { 'kubernetes.io/config.mirror': 'm' } }, spec: before },
      { spec: before },
      ['[]: Forbidden: static pods cannot be resized'],
    ],
    [
      { spec: { ...before, os: { name: 'windows' } } },
      { spec: before },
      ['[]: Forbidden: windows pods cannot be resized'],
    ],
  ]
  for (const [stored, sent, expected] of cases)
    assert.deepEqual(through('resize', stored, sent).errors, expected, JSON.stringify(sent))
})

test('Given a container with claims of devices, then it is not resized, whatever is sent; one without may get them.', () => {
  const claims = [{ name: 'x' }]
  const of = (cpu: string, more: Draft = {}): Draft => ({
    spec: {
      ...podSpec({ resources: { requests: { cpu }, ...more } }),
      initContainers: [{ name: 'i', image: 'x', resources: { requests: { cpu }, ...more } }],
      resourceClaims: [{ name: 'x', resourceClaimName: 'x' }],
    },
  })
  for (const sent of [{ claims }, {}, { claims: [{ name: 'y' }] }])
    assert.deepEqual(through('resize', of('1', { claims }), of('2', sent)).errors.slice(-2), [
      'spec: Forbidden: only cpu and memory resources are mutable',
      'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
    ])
  const { pod, errors } = through('resize', of('1'), of('2', { claims }))
  assert.deepEqual([errors, pod.spec.containers[0].resources.claims], [[], claims])
  const whole = { spec: { ...of('1').spec, resources: { requests: { cpu: '5' }, claims } } }
  assert.deepEqual(through('resize', of('1'), whole).errors, [
    'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
    'spec: Forbidden: only cpu and memory resources are mutable at pod-level',
  ])
})

test('Given ephemeral containers through their subresource, then they are added and never changed.', () => {
  const one = { name: 'e', image: 'busybox' }
  const spec = { ...podSpec(), ephemeralContainers: [one] }
  const added = through('ephemeralcontainers', { spec: podSpec() }, { spec })
  assert.deepEqual(added.errors, [])
  assert.equal(added.pod.spec.ephemeralContainers.length, 1)
  assert.deepEqual(through('ephemeralcontainers', { spec }, { spec: podSpec() }).errors, [
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
  ])
  for (const [container, field] of [
    [{ ...one, ports: [] }, 'ports'],
    [{ ...one, restartPolicyRules: [] }, 'restartPolicyRules'],
    [{ ...one, resources: { limits: {} } }, 'resources'],
    [{ ...one, resources: {}, env: [] }, undefined],
  ] as const)
    assert.deepEqual(
      through(
        'ephemeralcontainers',
        { spec: podSpec() },
        { spec: { ...podSpec(), ephemeralContainers: [container] } },
      ).errors,
      field === undefined
        ? []
        : [
            `spec.ephemeralContainers[0].${field}: Forbidden: cannot be set for an Ephemeral Container`,
          ],
    )
  const mirror = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'm' } } }
  assert.deepEqual(
    through('ephemeralcontainers', { ...mirror, spec: podSpec() }, { spec }).errors,
    ['[]: Forbidden: static pods do not support ephemeral containers'],
  )
})
