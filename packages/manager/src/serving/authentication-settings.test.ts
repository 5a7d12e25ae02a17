import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, statusError, testClock } from '@gyropilot/runtime/testing'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { Options } from '../options/options.ts'
import { FollowedAuthenticationSettings } from './authentication-settings.ts'
import { testAuthority } from './fixtures.ts'

const clients = testAuthority('clients')
const proxies = testAuthority('proxies')
const others = testAuthority('others')

const configMap = (data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
  data,
})

const inCluster = {
  'client-ca-file': clients.pem,
  'requestheader-client-ca-file': proxies.pem,
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
}

function world(...flags: string[]) {
  const server = new FakeServer()
  const host = new FakeHost({ '/pki/ca.crt': others.pem, '/pki/proxy.crt': proxies.pem })
  const clock = testClock()
  const logger = new RecordingLogger()
  const options = new Options(parseFlags(flagDefinitions, flags))
  const load = (client: FakeServer | undefined = server) =>
    FollowedAuthenticationSettings.load({
      options,
      host,
      ...(client === undefined ? {} : { client }),
      clock,
      random: new SeededRandom('settings'),
      logger,
    })
  const without = () =>
    FollowedAuthenticationSettings.load({
      options,
      host,
      clock,
      random: new SeededRandom('settings'),
      logger,
    })
  return { server, host, clock, logger, load, without }
}

const names = (settings: FollowedAuthenticationSettings) =>
  settings.current.clientAuthorities.map(({ subject }) => subject)

test('what flags do not say is read from the ConfigMap, and followed', async () => {
  const { server, clock, load } = world()
  server.put(resources.configmaps, configMap(inCluster))
  const settings = await load()
  assert.deepEqual(names(settings), ['CN=clients'])
  assert.deepEqual(settings.current.frontProxy?.allowedNames, ['front-proxy-client'])
  assert.deepEqual(settings.current.frontProxy?.usernameHeaders, ['x-remote-user'])
  assert.deepEqual(settings.current.frontProxy?.uidHeaders, [])
  const stop = new AbortController()
  const following = settings.follow(stop.signal)
  await clock.advance(0)
  server.put(resources.configmaps, configMap({ ...inCluster, 'client-ca-file': others.pem }))
  await clock.advance(0)
  assert.deepEqual(names(settings), ['CN=others'])
  stop.abort()
  await clock.advance(0)
  await following
})

test('flags win over the ConfigMap, and their files are read again', async () => {
  const { server, host, load } = world(
    '--client-ca-file=/pki/ca.crt',
    '--requestheader-client-ca-file=/pki/proxy.crt',
    '--requestheader-allowed-names=aggregator',
  )
  const settings = await load()
  assert.deepEqual(server.requests, [])
  assert.deepEqual(names(settings), ['CN=others'])
  assert.deepEqual(settings.current.frontProxy?.allowedNames, ['aggregator'])
  assert.deepEqual(settings.current.frontProxy?.groupHeaders, ['x-remote-group'])
  host.files.set('/pki/ca.crt', clients.pem)
  await settings.refresh()
  assert.deepEqual(names(settings), ['CN=clients'])
  host.files.set('/pki/ca.crt', 'half a file')
  await assert.rejects(settings.refresh(), /error loading \/pki\/ca.crt/)
  assert.deepEqual(names(settings), ['CN=clients'], 'the former ones stay')
})

test('what cannot be read stays as it was, and holds back nothing else', async () => {
  const { host, load } = world(
    '--client-ca-file=/pki/ca.crt',
    '--requestheader-client-ca-file=/pki/proxy.crt',
  )
  const settings = await load()
  const { frontProxy } = settings.current
  const proxyPem = host.files.get('/pki/proxy.crt')!
  host.files.set('/pki/ca.crt', clients.pem).delete('/pki/proxy.crt')
  await assert.rejects(settings.refresh(), /open \/pki\/proxy.crt: no such file/)
  assert.deepEqual(names(settings), ['CN=clients'])
  assert.equal(settings.current.frontProxy, frontProxy)
  assert.equal(settings.authoritiesPem, `${clients.pem}\n${proxyPem}`)
  host.files.delete('/pki/ca.crt')
  await assert.rejects(settings.refresh(), /^AggregateError: \[.*ca.crt.*, .*proxy.crt.*\]$/)
  assert.deepEqual(names(settings), ['CN=clients'])
})

test('a ConfigMap that cannot be read ends the start', async () => {
  const { server, load } = world()
  server.onRequest = () => {
    throw statusError(403, 'Forbidden')
  }
  await assert.rejects(load(), { code: 'AUTHENTICATION_LOOKUP_FAILED', exitCode: 1 })
})

test('it is tolerated when that is asked for, and not tried when it is skipped', async () => {
  const tolerant = world('--authentication-tolerate-lookup-failure=true')
  tolerant.server.onRequest = () => {
    throw statusError(403, 'Forbidden')
  }
  assert.deepEqual((await tolerant.load()).current, { clientAuthorities: [] })
  assert.ok(tolerant.logger.messages().some((text) => text.startsWith('Continuing without')))
  const skipping = world('--authentication-skip-lookup=true')
  skipping.server.put(resources.configmaps, configMap(inCluster))
  assert.deepEqual((await skipping.load()).current, { clientAuthorities: [] })
  assert.deepEqual(skipping.server.requests, [])
})

test('without a client for authentication the cluster is not asked', async () => {
  assert.deepEqual((await world().without()).current, { clientAuthorities: [] })
})

test('a file of authorities that cannot be read ends the start, and is told by its purpose', async () => {
  const refused = {
    '--client-ca-file': 'unable to load client CA provider',
    '--requestheader-client-ca-file': 'unable to create request header authentication config',
  }
  for (const [flag, purpose] of Object.entries(refused)) {
    const { load, server } = world(`${flag}=/nope`)
    server.put(resources.configmaps, configMap(inCluster))
    await assert.rejects(load(), {
      code: 'OPTIONS_INVALID',
      message: `${purpose}: open /nope: no such file or directory`,
    })
  }
  const empty = {
    '--client-ca-file': 'client-ca-bundle',
    '--requestheader-client-ca-file': 'request-header',
  }
  for (const [flag, bundle] of Object.entries(empty)) {
    const { load, server, host } = world(`${flag}=/empty`)
    host.files.set('/empty', '\n')
    server.put(resources.configmaps, configMap(inCluster))
    const message = new RegExp(`: missing content for CA bundle "${bundle}::/empty"$`)
    await assert.rejects(load(), { code: 'OPTIONS_INVALID', message })
  }
})
