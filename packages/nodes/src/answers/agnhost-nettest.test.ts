import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nettestPage } from './agnhost-nettest.ts'

const WORDS = ['/agnhost', 'nettest']

function server(words: readonly string[] = WORDS) {
  const heard = new Map<string, number>()
  return (method: string, path: string, body = '', port = 8080) => {
    const page = nettestPage(words, { method, path, body, port }, 'p', heard)
    return page && { status: page.status, said: Buffer.from(page.body).toString() }
  }
}

test('who wrote is counted, and told to whoever reads', () => {
  const ask = server()
  assert.equal(ask('POST', '/write', '{"Source": "hook"}')?.status, 200)
  assert.equal(ask('POST', '/write', '{"Source": "hook", "Data": 1}')?.status, 200)
  assert.equal(ask('POST', '/write', '{"Source": "other"}')?.status, 200)
  const { Received, Hostname } = JSON.parse(ask('GET', '/read')?.said ?? '') as {
    Received: object
    Hostname: string
  }
  assert.deepEqual([Received, Hostname], [{ hook: 2, other: 1 }, 'p'])
})

test('what it cannot read counts for nobody', () => {
  const ask = server()
  for (const body of ['', '{', '{"Data": 1}', '{"Source": 1}'])
    assert.equal(ask('POST', '/write', body)?.status, 400, body)
  assert.equal(ask('GET', '/write')?.status, 404)
  assert.match(ask('GET', '/read')?.said ?? '', /"Received": \{\}/)
})

test('it listens at its port, and no other program answers so', () => {
  assert.deepEqual(server()('GET', '/status'), { status: 200, said: 'running' })
  assert.equal(server()('GET', '/status', '', 81), undefined)
  assert.equal(server([...WORDS, '--port=81'])('GET', '/status', '', 81)?.status, 200)
  assert.equal(server(['/agnhost', 'netexec'])('GET', '/read'), undefined)
})
