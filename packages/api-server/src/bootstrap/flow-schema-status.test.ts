import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from './fixtures.ts'

const SCHEMAS = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
const LEVELS = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'

test('the answer to a creation has no condition, every later one says whether the level exists', async (t) => {
  const { server, call } = await startServer()
  t.after(() => server.stop())
  const made = await call('POST', SCHEMAS, {
    metadata: { name: 'mine' },
    spec: { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'slow' } },
  })
  assert.deepEqual([made.status, made.body.status], [201, {}])
  const condition = async (): Promise<unknown> => {
    const { body } = await call('GET', `${SCHEMAS}/mine`)
    return body.status.conditions.map(({ type, status, reason }: Record<string, string>) => [
      type,
      status,
      reason,
    ])
  }
  assert.deepEqual(await condition(), [['Dangling', 'True', 'NotFound']])
  await call('POST', LEVELS, {
    metadata: { name: 'slow' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } },
    },
  })
  assert.deepEqual(await condition(), [['Dangling', 'False', 'Found']])
})

test('the conditions of the schemas that the server begins with are of their consumer', async (t) => {
  const { server, call } = await startServer()
  t.after(() => server.stop())
  const { body } = await call('GET', `${SCHEMAS}/exempt`)
  assert.deepEqual(
    body.status.conditions.map(({ type, status }: Record<string, string>) => [type, status]),
    [['Dangling', 'False']],
  )
  assert.deepEqual(
    body.metadata.managedFields.map((entry: Record<string, string>) => [
      entry['manager'],
      entry['operation'],
      entry['subresource'],
    ]),
    [
      ['api-priority-and-fairness-config-consumer-v1', 'Apply', 'status'],
      ['api-priority-and-fairness-config-producer-v1', 'Update', undefined],
    ],
  )
})
