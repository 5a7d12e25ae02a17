import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InstanceNotFound, NotImplemented } from '@gyropilot/cloud-provider'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { drive } from '@gyropilot/runtime/testing'
import { answers, internalIp, node, partsOnly } from '../cloud-support/fixtures.ts'
import { instanceMetadataOf, nodeAddressesOf } from './instance-metadata.ts'

const V2 = partsOnly('instancesV2', 'instances', 'zones')
const OLD = partsOnly('instances')
const WITH_ZONES = partsOnly('instances', 'zones')
const no = new Error('no')
const addresses = [internalIp('10.0.0.1')]

interface Case {
  readonly what: string
  readonly provider: CloudProvider
  readonly providerId?: string
  readonly table: Readonly<Record<string, unknown>>
  /** Metadata, or the text of an error. */
  readonly expected: object | string | undefined
}

const byId = {
  'instances.nodeAddressesByProviderId': addresses,
  'instances.instanceTypeByProviderId': 't',
}

const cases: readonly Case[] = [
  {
    what: 'the new interface with an ID',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': { providerId: 'x://1', zone: 'z' } },
    expected: { providerId: 'x://1', zone: 'z' },
  },
  {
    what: "the new interface without an ID takes the node's",
    provider: V2,
    providerId: 'x://2',
    table: { 'instancesV2.instanceMetadata': { zone: 'z', providerId: '' } },
    expected: { providerId: 'x://2', zone: 'z' },
  },
  {
    what: 'the new interface without any ID',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': { zone: 'z' } },
    expected: 'cloud provider does not set node provider ID for node n',
  },
  {
    what: 'the new interface with nothing',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': undefined },
    expected: undefined,
  },
  {
    what: 'the new interface with an error',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': no },
    expected: 'no',
  },
  {
    what: 'the old interface makes an ID of its name and the instance',
    provider: OLD,
    table: { 'instances.instanceId': 'i-1', ...byId },
    expected: { providerId: 'fake://i-1', nodeAddresses: addresses, instanceType: 't' },
  },
  {
    what: "the old interface takes the node's ID",
    provider: OLD,
    providerId: 'x://3',
    table: byId,
    expected: { providerId: 'x://3', nodeAddresses: addresses, instanceType: 't' },
  },
  {
    what: 'the old interface may have no IDs',
    provider: OLD,
    table: {
      'instances.instanceId': new Error('wrapped', { cause: new NotImplemented() }),
      'instances.nodeAddressesByProviderId': no,
      'instances.nodeAddresses': addresses,
      'instances.instanceTypeByProviderId': no,
      'instances.instanceType': 't',
    },
    expected: { providerId: '', nodeAddresses: addresses, instanceType: 't' },
  },
  {
    what: 'a machine that is not there is an error',
    provider: OLD,
    table: { 'instances.instanceId': new InstanceNotFound() },
    expected: 'instance not found',
  },
  {
    what: 'an ID that cannot be told is an error',
    provider: OLD,
    table: { 'instances.instanceId': no },
    expected: 'failed to get instance ID from cloud provider: no',
  },
  {
    what: 'addresses that are refused by ID and by name',
    provider: OLD,
    providerId: 'x://3',
    table: {
      'instances.nodeAddressesByProviderId': new Error('first'),
      'instances.nodeAddresses': no,
    },
    expected: 'no',
  },
  {
    what: 'a type that is refused by ID and by name',
    provider: OLD,
    providerId: 'x://3',
    table: { ...byId, 'instances.instanceTypeByProviderId': no, 'instances.instanceType': no },
    expected: 'no',
  },
  {
    what: 'zones by ID',
    provider: WITH_ZONES,
    providerId: 'x://3',
    table: { ...byId, 'zones.getZoneByProviderId': { failureDomain: 'z', region: 'r' } },
    expected: {
      providerId: 'x://3',
      nodeAddresses: addresses,
      instanceType: 't',
      zone: 'z',
      region: 'r',
    },
  },
  {
    what: 'zones by name',
    provider: WITH_ZONES,
    providerId: 'x://3',
    table: {
      ...byId,
      'zones.getZoneByProviderId': no,
      'zones.getZoneByNodeName': { failureDomain: 'z', region: '' },
    },
    expected: {
      providerId: 'x://3',
      nodeAddresses: addresses,
      instanceType: 't',
      zone: 'z',
      region: '',
    },
  },
  {
    what: 'zones that cannot be told',
    provider: WITH_ZONES,
    providerId: 'x://3',
    table: { ...byId, 'zones.getZoneByProviderId': no, 'zones.getZoneByNodeName': no },
    expected: 'no',
  },
]

test('Given Instances or InstancesV2 with and without provider IDs, then the metadata is as in the table', () => {
  for (const { what, provider, providerId, table, expected } of cases) {
    const { result, effects } = drive(instanceMetadataOf(node('n', { providerId }), provider), {
      onOutside: answers(table),
    })
    for (const effect of effects) {
      assert.ok(effect.effect === 'outside')
      const [asked] = effect.call.arguments
      if (/(nodeAddresses|instanceType|instanceId|ByNodeName)$/.test(effect.call.name))
        assert.equal(asked, 'n', `${what}: ${effect.call.name}`)
      if (effect.call.name.endsWith('ByProviderId') && providerId !== undefined)
        assert.equal(asked, providerId, `${what}: ${effect.call.name}`)
    }
    if (typeof expected === 'string')
      assert.ok(!result.ok && (result.error as Error).message === expected, what)
    else assert.deepEqual(result, { ok: true, object: expected }, what)
  }
})

const addressCases: readonly Omit<Case, 'providerId'>[] = [
  {
    what: 'of the new interface, without an ID',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': { nodeAddresses: addresses } },
    expected: addresses,
  },
  {
    what: 'of a cloud that does not answer for the node',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': undefined },
    expected: undefined,
  },
  {
    what: 'of a cloud that fails',
    provider: V2,
    table: { 'instancesV2.instanceMetadata': no },
    expected: 'no',
  },
  {
    what: 'of the old interface, by name',
    provider: OLD,
    table: {
      'instances.instanceId': 'i',
      'instances.nodeAddressesByProviderId': no,
      'instances.nodeAddresses': addresses,
    },
    expected: addresses,
  },
  {
    what: 'of the old interface without the machine',
    provider: OLD,
    table: { 'instances.instanceId': new InstanceNotFound() },
    expected: 'instance not found',
  },
]

for (const { what, provider, table, expected } of addressCases) {
  test(`addresses ${what}`, () => {
    const { result, effects } = drive(nodeAddressesOf(node('n'), provider), {
      onOutside: answers(table),
    })
    for (const effect of effects)
      if (effect.effect === 'outside' && effect.call.name.endsWith('nodeAddresses'))
        assert.deepEqual(effect.call.arguments, ['n'])
    if (typeof expected === 'string')
      assert.ok(!result.ok && (result.error as Error).message === expected)
    else assert.deepEqual(result, { ok: true, object: expected })
  })
}
