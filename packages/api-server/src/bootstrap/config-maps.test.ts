import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SeededRandom, VirtualClock } from '@gyropilot/foundation'
import { createClusterCertificates } from '../tls/index.ts'
import { PATCH, START_MS, startServer } from './fixtures.ts'
import type { TestServer } from './fixtures.ts'

const CONFIG_MAPS = '/api/v1/namespaces/kube-system/configmaps'
const AUTHENTICATION = 'extension-apiserver-authentication'
const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking'
const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 3600 * 1000

function authoritiesOf(seed: number, startMs = START_MS): { client: string; frontProxy: string } {
  const clock = new VirtualClock({ startMs, settle: () => Promise.resolve() })
  const made = createClusterCertificates({ clock, random: new SeededRandom(seed) })
  return {
    client: made.authority.certificatePem,
    frontProxy: made.frontProxyAuthority.certificatePem,
  }
}

const own = authoritiesOf(1)
const other = authoritiesOf(2)
const expired = authoritiesOf(3, START_MS - 11 * YEAR_MS)

const startWithAuthorities = (): Promise<TestServer> =>
  startServer({ clientAuthorityPem: own.client, frontProxyAuthorityPem: own.frontProxy })

function dataOf(
  { stored }: TestServer,
  name: string,
): Readonly<Record<string, string>> | undefined {
  return stored('configmaps', `kube-system/${name}`)?.['data']
}

describe('what extension servers read of the authorities', () => {
  test('is back at once when it was deleted, within a minute when it was changed', async (t) => {
    const server = await startWithAuthorities()
    t.after(() => server.server.stop())
    const published = dataOf(server, AUTHENTICATION)
    assert.deepEqual(published, {
      'client-ca-file': own.client,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-client-ca-file': own.frontProxy,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    })
    await server.call('DELETE', `${CONFIG_MAPS}/${AUTHENTICATION}`)
    await server.clock.advance(0)
    assert.deepEqual(dataOf(server, AUTHENTICATION), published)
    const path = `${CONFIG_MAPS}/${AUTHENTICATION}`
    for (const data of [null, { 'client-ca-file': 'garbage', foreign: 'x' }]) {
      await server.call('PATCH', path, { metadata: { labels: { own: 'x' } }, data }, PATCH)
      assert.notDeepEqual(dataOf(server, AUTHENTICATION), published)
      await server.clock.advance(MINUTE_MS)
      assert.deepEqual(dataOf(server, AUTHENTICATION), published)
    }
    const { labels } = server.stored('configmaps', `kube-system/${AUTHENTICATION}`)!['metadata']
    assert.deepEqual(labels, { own: 'x' })
  })

  test('keeps what another server wrote, without certificates that have run out', async (t) => {
    const server = await startWithAuthorities()
    t.after(() => server.server.stop())
    const data = {
      'client-ca-file': `text before\n${other.client}${own.client}${other.client}${expired.client}`,
      'requestheader-client-ca-file': other.frontProxy,
      'requestheader-username-headers': '["X-A","X-Remote-User"]',
      'requestheader-group-headers': '["X-G"]',
      'requestheader-allowed-names': '[]',
      'requestheader-uid-headers': null,
    }
    await server.call('PATCH', `${CONFIG_MAPS}/${AUTHENTICATION}`, { data }, PATCH)
    await server.clock.advance(MINUTE_MS)
    assert.deepEqual(dataOf(server, AUTHENTICATION), {
      'client-ca-file': other.client + own.client,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-client-ca-file': other.frontProxy + own.frontProxy,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-G","X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-username-headers': '["X-A","X-Remote-User"]',
    })
  })

  test('without an authority of proxies says nothing of them', async (t) => {
    const server = await startServer({ clientAuthorityPem: own.client })
    t.after(() => server.server.stop())
    const data = { 'requestheader-username-headers': '["X-A"]' }
    await server.call('PATCH', `${CONFIG_MAPS}/${AUTHENTICATION}`, { data }, PATCH)
    await server.clock.advance(MINUTE_MS)
    assert.deepEqual(dataOf(server, AUTHENTICATION), { 'client-ca-file': own.client })
  })
})

test('since when the use of tokens is recorded is a date; a deleted one is made again half an hour after it was made', async (t) => {
  const server = await startServer()
  t.after(() => server.server.stop())
  const path = `${CONFIG_MAPS}/${TRACKING}`
  const changed = async (data: unknown): Promise<unknown> => {
    await server.call('PATCH', path, { data }, PATCH)
    await server.clock.advance(0)
    return dataOf(server, TRACKING)
  }
  assert.deepEqual(await changed({ since: '2020-01-01' }), { since: '2020-01-01' })
  for (const since of ['garbage', '2026-02-30', '2026-2-3', null])
    assert.deepEqual(await changed({ since, own: 'x' }), { since: '2026-11-21', own: 'x' })
  assert.deepEqual(await changed(null), { since: '2026-11-21' })
  await server.call('DELETE', path)
  await server.clock.advance(29 * MINUTE_MS)
  assert.equal(dataOf(server, TRACKING), undefined)
  await server.clock.advance(MINUTE_MS)
  assert.deepEqual(dataOf(server, TRACKING), { since: '2026-11-21' })
})
