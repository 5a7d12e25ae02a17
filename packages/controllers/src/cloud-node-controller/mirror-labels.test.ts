import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import { node } from '../cloud-support/fixtures.ts'
import { refused } from '../workload-support/fixtures.ts'
import { labelsToMirror, mirrorLabels } from './mirror-labels.ts'

const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const ZONE = 'topology.kubernetes.io/zone'
const TYPE = 'node.kubernetes.io/instance-type'
const REGION = 'topology.kubernetes.io/region'

type Labels = Readonly<Record<string, string>> | undefined
const cases: readonly (readonly [what: string, labels: Labels, mirrored: Labels])[] = [
  ['unset labels are left', undefined, undefined],
  ['a missing target is added', { [BETA_ZONE]: 'z' }, { [ZONE]: 'z' }],
  ['an equal one is left', { [BETA_ZONE]: 'z', [ZONE]: 'z' }, undefined],
  ['a different one is reverted', { [BETA_ZONE]: 'z', [ZONE]: 'mine' }, { [ZONE]: 'z' }],
  ['a target alone is left', { [ZONE]: 'mine' }, undefined],
  ['an empty source counts', { [BETA_ZONE]: '' }, { [ZONE]: '' }],
  [
    'type and region too',
    { 'beta.kubernetes.io/instance-type': 't', 'failure-domain.beta.kubernetes.io/region': 'r' },
    { [REGION]: 'r', [TYPE]: 't' },
  ],
]

test('Given mirrored labels missing, equal, different, then they are patched or left', () => {
  for (const [what, labels, mirrored] of cases) {
    assert.deepEqual(labelsToMirror(node('n', { labels })), mirrored, what)
    const { writes } = drive(mirrorLabels(node('n', { labels })), {
      onRead(read) {
        assert.ok(read.verb === 'get' && read.name === 'n')
        return { ok: true, object: node('n', { labels, resourceVersion: '7' }) }
      },
    })
    const patches = writes.map((write) => write.verb === 'patch' && write.patch)
    const expected = mirrored && { type: 'strategic', value: { metadata: { labels: mirrored } } }
    assert.deepEqual(patches, expected === undefined ? [] : [expected], what)
  }
})

test('a conflict is tried again five times, another refusal is not', () => {
  const onRead = () => ({ ok: true as const, object: node('n') })
  const run = (code: number, reason: string) =>
    drive(mirrorLabels(node('n', { labels: { [BETA_ZONE]: 'z' } })), {
      onRead,
      onWrite: () => refused(code, reason),
    })
  const conflict = run(409, 'Conflict')
  assert.equal(conflict.writes.length, 5)
  assert.match(String(conflict.result), /Conflict|conflict/)
  const waits = conflict.effects.flatMap((e) => (e.effect === 'wait' ? [e.waitMs] : []))
  assert.deepEqual(waits, [100, 100, 100, 100])
  assert.equal(run(403, 'Forbidden').writes.length, 1)
})

test('a node that is gone by the time of the write is an error', () => {
  const gone = refused(404, 'NotFound')
  const { result, writes } = drive(mirrorLabels(node('n', { labels: { [BETA_ZONE]: 'z' } })), {
    onRead: () => gone,
  })
  assert.deepEqual(writes, [])
  assert.equal(result, !gone.ok && gone.error)
})
