import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthAnswer, standingChecks, startChecks } from './health.ts'

function asked(path: string, ready = true, query = '') {
  const checks = [
    ...standingChecks,
    ...startChecks(() => ready),
    { name: 'shutdown', on: ['readyz'], healthy: () => true } as const,
  ]
  const recorded: string[] = []
  const answer = healthAnswer(checks, path, new URLSearchParams(query), (name) =>
    recorded.push(name),
  )
  const { status, body } = answer ?? {}
  const text = body?.kind === 'bytes' ? Buffer.from(body.bytes).toString() : undefined
  return { status, text, recorded }
}

test('until the start has ended each of its parts fails, on every endpoint', () => {
  const hook = 'poststarthook/rbac/bootstrap-roles'
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    const early = asked(`/${endpoint}`, false)
    assert.equal(early.status, 500)
    assert.match(
      early.text!,
      /^\[\+\]ping ok\n[^]*\[-\]poststarthook\/rbac\/bootstrap-roles failed: reason withheld\n/,
    )
    assert.equal(asked(`/${endpoint}`).text, 'ok')
    assert.equal(asked(`/${endpoint}/${hook}`).text, 'ok')
    assert.equal(asked(`/${endpoint}/${hook}`, false).status, 500)
  }
})

test('each endpoint has checks of its own', () => {
  const names = (path: string) => asked(path).recorded
  assert.ok(names('/livez').includes('loopback-serving-certificate'))
  assert.ok(!names('/readyz').includes('loopback-serving-certificate'))
  assert.ok(names('/livez').includes('etcd') && !names('/readyz').includes('etcd'))
  assert.ok(names('/readyz').includes('shutdown'))
  assert.equal(asked('/livez/shutdown').status, undefined)
  assert.equal(asked('/livez/nosuch').status, undefined)
})

test('a check that is left out may fail', () => {
  const query = new URLSearchParams(
    asked('/readyz', false)
      .recorded.filter((name) => name !== 'ping')
      .map((name) => ['exclude', name]),
  )
  const answer = asked('/readyz', false, `verbose&${query}`)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.recorded, ['ping'])
})
