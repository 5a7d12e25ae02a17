import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { context, createErrors, created, decoded, updateErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'
import { resourceClaim } from './index.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const CLAIM = kind('ResourceClaim', true)
const TEMPLATE = kind('ResourceClaimTemplate', true)
const CLASS = kind('DeviceClass')
const SLICE = kind('ResourceSlice')

const request = (exactly: Draft = {}, name = 'r') => ({
  name,
  exactly: { deviceClassName: 'c', ...exactly },
})
const claim = (devices: Draft) => ({ spec: { devices } })
const selector = (expression: string) => ({ cel: { expression } })
const slice = (devices: readonly Draft[], spec: Draft = {}) => ({
  spec: {
    driver: 'd.example.com',
    pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
    allNodes: true,
    devices,
    ...spec,
  },
})
const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

/** Recorded answers are replayed in tests/recordings; here stands what would be long there. */
test('what a create is refused for', () => {
  const long = `device.driver == "${'a'.repeat(10_240)}"`
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [CLAIM, claim({ requests: [request()] }), []],
    [
      CLAIM,
      claim({ requests: [request({ selectors: [selector(long)] })] }),
      [
        'spec.devices.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes',
      ],
    ],
    [
      CLAIM,
      claim({ requests: [request({ selectors: [selector('device.driver')] })] }),
      [
        'spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
      ],
    ],
    [
      CLAIM,
      claim({ requests: [request({ adminAccess: true })] }),
      [
        'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace',
      ],
    ],
    [
      CLAIM,
      claim({
        requests: [request()],
        config: many(33, () => ({ opaque: { driver: 'd.example.com', parameters: {} } })),
      }),
      ['spec.devices.config: Too many: 33: must have at most 32 items'],
    ],
    [
      TEMPLATE,
      { spec: { metadata: { name: 'x' }, spec: { devices: { requests: [request()] } } } },
      ['spec.metadata.name: Forbidden: cannot be set'],
    ],
    [
      CLASS,
      { spec: { extendedResourceName: 'gpu.kubernetes.io/x' } },
      [
        'spec.extendedResourceName: Invalid value: "gpu.kubernetes.io/x": must be a valid extended resource name',
      ],
    ],
    [CLASS, { spec: { extendedResourceName: 'example.com/gpu' } }, []],
    [SLICE, slice(many(128, (index) => ({ name: `a${index}` }))), []],
    [
      SLICE,
      slice(many(129, (index) => ({ name: `a${index}` }))),
      ['spec.devices: Too many: 129: must have at most 128 items'],
    ],
    [
      SLICE,
      slice(
        many(65, (index) => ({ name: `a${index}`, taints: [{ key: 'k', effect: 'NoExecute' }] })),
      ),
      ['spec.devices: Too many: 65: must have at most 64 items'],
    ],
    [
      SLICE,
      slice([{ name: 'a', attributes: { '/x': { int: 1 }, 'd.example.com/': { int: 1 } } }]),
      [
        'spec.devices[0].attributes: Invalid value: "": the domain must not be empty',
        'spec.devices[0].attributes: Invalid value: "": the name must not be empty',
      ],
    ],
    [
      SLICE,
      slice([{ name: 'a', attributes: { x: { int: 1, version: 'v' } } }]),
      [
        'spec.devices[0].attributes[x].version: Invalid value: "v": must be a string compatible with semver.org spec 2.0.0',
        'spec.devices[0].attributes[x]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":null,"VersionValue":"v","IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
      ],
    ],
  ]
  for (const [type, object, errors] of cases) assert.deepEqual(createErrors(type, object), errors)
})

test('devices that stand for resources of their node wait for a feature gate', () => {
  const devices = [{ name: 'a', nodeAllocatableResourceMappings: { cpu: {} } }]
  assert.deepEqual(created(SLICE, slice(devices)).spec.devices, [{ name: 'a' }])
})

test('a taint that has no time yet begins with the write', () => {
  const devices = [{ name: 'a', taints: [{ key: 'k', effect: 'NoExecute' }] }]
  const { spec } = created(SLICE, slice(devices))
  assert.equal(spec.devices[0].taints[0].timeAdded, '2024-01-01T00:00:00Z')
})

test('what was accepted once is not judged again by an update', () => {
  const stored = claim({ requests: [request({ selectors: [selector('gone(device)')] })] })
  assert.deepEqual(updateErrors(CLAIM, stored, stored), [])
  const before = { spec: { selectors: [selector('gone(device)')] } }
  assert.deepEqual(updateErrors(CLASS, before, before), [])
  const changed = { spec: { selectors: [selector('gone(device)'), selector('1')] } }
  assert.deepEqual(updateErrors(CLASS, before, changed), [
    'spec.selectors[1].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int',
  ])
})

const result = (device: string) => ({ request: 'r', driver: 'd.example.com', pool: 'p', device })
const deviceStatus = (device: string) => ({ driver: 'd.example.com', pool: 'p', device })

/** A status update from one status to another. */
function statusUpdate(before: Draft, after: Draft) {
  const stored: Stored = { ...created(CLAIM, claim({ requests: [request()] })), status: before }
  const draft: Draft = { ...stored, spec: { devices: {} }, status: after }
  resourceClaim.status!.prepareForUpdate!(draft, stored, context)
  const errors = new FieldErrors()
  resourceClaim.status!.validateUpdate!(draft, stored, errors, context)
  return { draft, errors: errors.list.map(({ field, message }) => `${field}: ${message}`) }
}

test('what drivers told of a device goes with its allocation', () => {
  const allocated = { allocation: { devices: { results: [result('a'), result('b')] } } }
  const told = { ...allocated, devices: [deviceStatus('a'), deviceStatus('b')] }
  const freed = statusUpdate(told, { devices: told.devices })
  assert.deepEqual([freed.draft.status, freed.errors], [{}, []])
  const unknown = statusUpdate(told, {
    ...allocated,
    devices: [deviceStatus('a'), deviceStatus('z')],
  })
  assert.deepEqual(unknown.errors, [
    'status.devices[1]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"z","ShareID":""}: must be an allocated device in the claim',
  ])
})

test('an allocation is not changed, and nobody uses what is not allocated', () => {
  const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }]
  const allocation = { devices: { results: [result('a')] } }
  const other = { devices: { results: [result('b')] } }
  assert.deepEqual(statusUpdate({}, { reservedFor }).errors, [
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  ])
  assert.deepEqual(statusUpdate({ allocation }, { allocation, reservedFor }).errors, [])
  const bound = { ...result('a'), bindingConditions: ['/a'] }
  assert.deepEqual(statusUpdate({}, { allocation: { devices: { results: [bound] } } }).errors, [
    'status.allocation.devices.results[0].request: Invalid value: "r": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
    'status.allocation.devices.results[0].bindingConditions[0]: Invalid value: "/a": prefix part must be non-empty',
    'status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
  ])
  assert.match(
    statusUpdate({ allocation }, { allocation: other }).errors.join(),
    /^status\.allocation: Invalid value: .*: field is immutable$/,
  )
})

test('admin access is given where the namespace allows it, and stays where it was given', () => {
  const given = (...access: readonly (boolean | undefined)[]): Draft => ({
    allocation: {
      devices: {
        results: access.map((adminAccess, index) => ({ ...result(`d${index}`), adminAccess })),
      },
    },
  })
  const refused = (before: Draft, after: Draft, labels?: Readonly<Record<string, string>>) => {
    const errors = new FieldErrors()
    const withLabels = { ...context, namespaceLabels: () => labels }
    resourceClaim.status!.validateUpdate!({ status: after }, { status: before }, errors, withLabels)
    return errors.list.map(({ field }) => field).filter((field) => field.endsWith('adminAccess'))
  }
  const label = { 'resource.kubernetes.io/admin-access': 'true' }
  assert.deepEqual(refused({}, given(undefined, true, true)), [
    'status.allocation.devices.results[1].adminAccess',
  ])
  assert.deepEqual(refused({}, given(false)), [])
  assert.deepEqual(refused({}, given(true), label), [])
  assert.deepEqual(refused(given(false, true), given(true, true)), [])
})

test('what drivers tell of a device: data is an object, and addresses are few, canonical and told once', () => {
  const allocation = { devices: { results: [result('a')] } }
  const told = (status: Draft): readonly string[] => {
    const device = { ...deviceStatus('a'), ...status }
    return statusUpdate({ allocation }, { allocation, devices: [device] }).errors.map((text) =>
      text.replace('status.devices[0].', ''),
    )
  }
  const condition = { status: 'True', reason: 'R', lastTransitionTime: '2024-01-01T00:00:00Z' }
  const ips = (...list: readonly string[]): Draft => ({ networkData: { ips: list } })
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ data: { a: 1 }, ...ips('1.2.3.4/24', '1.2.3.0/24', 'fd00::1/64') }, []],
    [{ data: [1] }, ['data: Invalid value: "<value omitted>": must be a valid JSON object']],
    [{ data: { a: 'x'.repeat(10_240) } }, ['data: Too long: may not be more than 10240 bytes']],
    [
      { conditions: many(9, (index) => ({ ...condition, type: `A${index}` })) },
      ['conditions: Too many: 9: must have at most 8 items'],
    ],
    [
      { networkData: { interfaceName: 'é'.repeat(129), hardwareAddress: 'x'.repeat(129) } },
      [
        'networkData.interfaceName: Too long: may not be more than 256 bytes',
        'networkData.hardwareAddress: Too long: may not be more than 128 bytes',
      ],
    ],
    [
      { networkData: { ips: many(17, () => 'x') } },
      ['networkData.ips: Too many: 17: must have at most 16 items'],
    ],
    [
      ips('1.2.3.4', '01.2.3.4/032', 'FD00:0::1/64', '::ffff:1.2.3.4/120', '1.2.3.4'),
      [
        'networkData.ips[0]: Invalid value: "1.2.3.4": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'networkData.ips[1]: Invalid value: "01.2.3.4/032": must be in canonical form ("1.2.3.4/32")',
        'networkData.ips[2]: Invalid value: "FD00:0::1/64": must be in canonical form ("fd00::1/64")',
        'networkData.ips[3]: Invalid value: "::ffff:1.2.3.4/120": must be in canonical form ("1.2.3.4/24")',
        'networkData.ips[4]: Invalid value: "1.2.3.4": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'networkData.ips[4]: Duplicate value: "1.2.3.4"',
      ],
    ],
  ]
  for (const [status, errors] of cases) assert.deepEqual(told(status), errors)
})

test('tolerations that a claim was allocated with compare for equality unless they say otherwise', () => {
  const tolerations = [{ key: 'k', value: 'v' }, { operator: 'Exists' }]
  const object = {
    ...claim({ requests: [request()] }),
    status: { allocation: { devices: { results: [{ ...result('a'), tolerations }] } } },
  }
  const [first] = decoded(CLAIM, object).status.allocation.devices.results
  assert.deepEqual(
    first.tolerations.map(({ operator }: { operator: string }) => operator),
    ['Equal', 'Exists'],
  )
})

test('a failure condition that is told twice and is a condition, too, is both in its place', () => {
  const bound = { ...result('a'), bindingConditions: ['c'], bindingFailureConditions: ['c', 'c'] }
  const status = { allocation: { devices: { results: [bound] } } }
  const errors = statusUpdate({}, status).errors.filter((text) => text.includes('Failure'))
  assert.deepEqual(
    errors.map((text) => /Failure\w+(\[.\]: \w+)/.exec(text)![1]),
    ['[0]: Invalid', '[1]: Duplicate', '[1]: Invalid'],
  )
})

test('opaque parameters may have integers beyond doubles', () => {
  const opaque = { driver: 'd.example.com', parameters: { a: 9007199254740993n } }
  assert.deepEqual(createErrors(CLASS, { spec: { config: [{ opaque }] } }), [])
})
