import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { NodeHeartbeat } from './node-heartbeat.ts'

const BOOT_ID = '00000000-0000-4000-8000-000000000002'

/** What the kubelet of node n told, in order, each with whether there was a node already. */
async function toldAtStart(bootId?: string) {
  const server = new FakeServer()
  const told: (readonly [reason: string, isNodeThere: boolean])[] = []
  const regarded = new Set<unknown>()
  const heartbeat = new NodeHeartbeat(
    { name: 'n', hostIps: ['192.168.0.11'] },
    {
      client: server,
      clock: testClock(),
      random: new SeededRandom('heartbeat'),
      logger: silentLogger,
      known: () => undefined,
      recorder: {
        record({ regarding, reason }) {
          told.push([reason, server.list(resources.nodes).length > 0])
          regarded.add(`${regarding.kind} ${regarding.metadata?.name} ${regarding.metadata?.uid}`)
        },
      },
    },
  )
  const life = new AbortController()
  await heartbeat.start(life.signal, bootId)
  life.abort()
  assert.deepEqual([...regarded], ['Node n n'])
  return told
}

const CONDITIONS = [
  ['NodeHasSufficientMemory', true],
  ['NodeHasNoDiskPressure', true],
  ['NodeHasSufficientPID', true],
  ['NodeReady', true],
]

test('a kubelet says that it starts before its node is there', async () => {
  assert.deepEqual(await toldAtStart(), [['Starting', false], ...CONDITIONS])
})

test('a machine that was off says so last', async () => {
  assert.deepEqual(await toldAtStart(BOOT_ID), [
    ['Starting', false],
    ...CONDITIONS,
    ['Rebooted', true],
  ])
})
