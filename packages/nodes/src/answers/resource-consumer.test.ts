import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerPort } from '../commands/image-programs/agnhost-command.ts'
import { Consumption, consumerPage } from './resource-consumer.ts'

const MIB = 2 ** 20
const asks = (path: string, more: object = {}) => ({ port: 8080, method: 'POST', path, ...more })

function told(request: ReturnType<typeof asks>, words: readonly string[] = ['/consumer']) {
  const consumption = new Consumption()
  const page = consumerPage(words, request, 10_000, consumption)
  const { cpuNanoCores, memoryBytes } = consumption.usage(25_000, 0)
  return {
    status: page?.status,
    said: page && Buffer.from(page.body).toString(),
    milliCores: cpuNanoCores / 1e6,
    mebibytes: memoryBytes / MIB,
  }
}

test('it takes what it is told to, by its query or by a form', () => {
  const cpu = 'millicores=300&durationSec=600'
  const said = 'ConsumeCPU\n300 millicores\n600 durationSec\n'
  for (const request of [asks(`/ConsumeCPU?${cpu}`), asks('/ConsumeCPU', { body: cpu })])
    assert.deepEqual(told(request), { status: 200, said, milliCores: 301, mebibytes: 8 })
  assert.deepEqual(told(asks('/ConsumeMem?megabytes=64&durationSec=600')), {
    status: 200,
    said: 'ConsumeMem\n64 megabytes\n600 durationSec\n',
    milliCores: 1,
    mebibytes: 72,
  })
})

for (const [request, status, said] of [
  [
    asks('/ConsumeCPU?millicores=1&durationSec=1', { method: 'GET' }),
    400,
    'Bad request. Not a POST request\n',
  ],
  [asks('/ConsumeCPU?millicores=1'), 400, 'not given function argument\n'],
  [asks('/ConsumeMem?durationSec=1'), 400, 'not given function argument\n'],
  [asks('/ConsumeCPU?millicores=x&durationSec=1'), 400, 'incorrect function argument\n'],
  [asks('/ConsumeCPU?millicores=1&durationSec=1.5'), 400, 'incorrect function argument\n'],
  [asks('/'), 404, 'unknown function\n'],
] as const)
  test(`${request.method} ${request.path} takes nothing`, () => {
    assert.deepEqual(told(request), { status, said, milliCores: 1, mebibytes: 8 })
  })

test('where it listens: 8080 unless its command line says otherwise', () => {
  assert.equal(consumerPort(['/consumer']), 8080)
  assert.equal(consumerPort(['/consumer', '-port=8081']), 8081)
  assert.equal(consumerPort(['./consumer', '--port', '1']), undefined)
  assert.equal(consumerPort(['consumer', '--port', '1']), 1)
  assert.equal(consumerPort(['/agnhost', 'resource-consumer', '--port=2']), 2)
  assert.equal(consumerPort(['/agnhost', 'netexec']), undefined)
  assert.equal(consumerPort([]), undefined)
  const other = asks('/ConsumeCPU?millicores=1&durationSec=1', { port: 8081 })
  assert.equal(told(other).status, undefined)
})

test('processor time is that of the last 15 s, memory that of the moment; both add up', () => {
  const consumption = new Consumption()
  consumption.take('cpu', 600, 100_000, 30_000)
  consumption.take('cpu', 300, 100_000, 15_000)
  consumption.take('memory', 10, 100_000, 30_000)
  const at = (nowMs: number, sinceMs = 0) => {
    const { cpuNanoCores, memoryBytes } = consumption.usage(nowMs, sinceMs)
    return [Math.round(cpuNanoCores / 1e6) - 1, memoryBytes / MIB - 8]
  }
  assert.deepEqual(at(100_000), [0, 10])
  assert.deepEqual(at(105_000), [300, 10])
  assert.deepEqual(at(115_000), [900, 10])
  assert.deepEqual(at(130_000), [600, 0])
  assert.deepEqual(at(140_000), [200, 0])
  assert.deepEqual(at(145_000), [0, 0])
  // A container that began within the window, and one that was started again since.
  assert.deepEqual(at(105_000, 100_000), [900, 10])
  assert.deepEqual(at(105_000, 100_001), [0, 0])
  // What is over is let go only when nobody can ask for it any more.
  consumption.take('cpu', 50, 144_000, 1_000)
  assert.deepEqual(at(144_000), [40, 0])
})
