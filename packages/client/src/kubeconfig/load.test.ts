import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import {
  aliceCertificate,
  aliceKey,
  authority,
  bobKey,
} from '../http-transport/test-certificates.ts'
import { inClusterConfig, kubeconfigPaths, loadClientConfig, loadManagerConfig } from './load.ts'

const NO_CONFIGURATION =
  'invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable'
const PEM = authority
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A kubeconfig with one context `c` of cluster `k` and user `u`; lines go under them. */
function config(
  cluster: string,
  user = '{}',
  context = '{cluster: k, user: u, namespace: ns1}',
): string {
  return `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: k, cluster: ${cluster}}]
users: [{name: u, user: ${user}}]
contexts: [{name: c, context: ${context}}]
`
}

const SERVER = '{server: "https://s:6443"}'
const IN_CLUSTER_VARIABLES = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
const IN_CLUSTER_FILES = {
  '/var/run/secrets/kubernetes.io/serviceaccount/token': 'pod-token',
  '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt': PEM,
  '/var/run/secrets/kubernetes.io/serviceaccount/namespace': 'pod-namespace\n',
}

function fails(code: string, message: string | RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof GyropilotError, String(error))
    assert.equal(error.code, code, error.message)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
    assert.ok(!error.message.includes('\n'))
    return true
  }
}

const load = (
  text: string,
  files: Record<string, string> = {},
): ReturnType<typeof loadManagerConfig> =>
  loadManagerConfig({ kubeconfig: '/k/config' }, new FakeHost({ '/k/config': text, ...files }))

test('context, cluster and user are followed from current-context; data is decoded and paths are resolved', async () => {
  const loaded = await load(
    config(
      `{server: "https://s:6443", certificate-authority: ../ca.crt, tls-server-name: k8s, proxy-url: "http://p:1", unknown: 1}`,
      `{client-certificate-data: ${base64(PEM)}, client-key: keys/u.key, token: t, as: bob, as-groups: [g1, g2], as-uid: "7", as-user-extra: {scopes: [a, b]}}`,
    ),
    { '/ca.crt': PEM, '/k/keys/u.key': 'KEY' },
  )
  assert.equal(loaded.server, 'https://s:6443')
  assert.equal(loaded.namespace, 'ns1')
  assert.equal(loaded.proxyUrl, 'http://p:1')
  assert.equal(loaded.bearerToken, 't')
  assert.equal(loaded.tls.caFile, '/ca.crt')
  assert.equal(loaded.tls.certData, PEM)
  assert.equal(loaded.tls.keyFile, '/k/keys/u.key')
  assert.equal(loaded.tls.serverName, 'k8s')
  assert.deepEqual(loaded.impersonate, {
    user: 'bob',
    uid: '7',
    groups: ['g1', 'g2'],
    extra: { scopes: ['a', 'b'] },
  })
})

test('JSON is read too', async () => {
  const json = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://j' } }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: '' } }],
  })
  assert.equal((await load(json)).server, 'https://j')
})

test('a relative kubeconfig path counts from the working folder', async () => {
  const host = new FakeHost({
    'conf/config': config('{server: "https://s", certificate-authority: ca.crt}'),
    '/work-folder/conf/ca.crt': PEM,
  })
  assert.equal(
    (await loadManagerConfig({ kubeconfig: 'conf/config' }, host)).tls.caFile,
    '/work-folder/conf/ca.crt',
  )
})

const FAULTS: [string, string, string, string | RegExp, Record<string, string>?][] = [
  [
    'unparsable file',
    'a: [',
    'KUBECONFIG_MALFORMED',
    'error loading config file "/k/config": yaml: line 1: did not find expected node content',
  ],
  [
    'a user name that YAML 1.1 takes for a boolean',
    config(SERVER, '{}', '{cluster: k, user: n}'),
    'KUBECONFIG_MALFORMED',
    'error loading config file "/k/config": json: cannot unmarshal bool into Go struct field Context.contexts.context.user of type string',
  ],
  ['a list in place of an object', '[]', 'KUBECONFIG_MALFORMED', /cannot unmarshal array/],
  [
    'broken base64',
    config('{server: s, certificate-authority-data: "!!!"}'),
    'KUBECONFIG_MALFORMED',
    /illegal base64 data at input byte 0/,
  ],
  [
    'current-context names no context',
    'current-context: gone',
    'KUBECONFIG_INVALID',
    'invalid configuration: [context was not found for specified context: gone, cluster has no server defined]',
  ],
  [
    'context names a cluster that does not exist',
    config(SERVER, '{}', '{cluster: gone}'),
    'CONFIGURATION_MISSING',
    NO_CONFIGURATION,
  ],
  ['an empty file', '', 'CONFIGURATION_MISSING', NO_CONFIGURATION],
  [
    'cluster without server',
    config('{insecure-skip-tls-verify: true}'),
    'KUBECONFIG_INVALID',
    'invalid configuration: no server found for cluster "k"',
  ],
  [
    'unreadable CA file',
    config('{server: "https://s", certificate-authority: ca.crt}'),
    'KUBECONFIG_INVALID',
    'invalid configuration: unable to read certificate-authority /k/ca.crt for k due to open /k/ca.crt: no such file or directory',
  ],
  [
    'unreadable tokenFile',
    config(SERVER, '{tokenFile: t}'),
    'CREDENTIALS_UNREADABLE',
    'open /k/t: no such file or directory',
  ],
  [
    'CA data and file together',
    config(
      `{server: "https://s", certificate-authority: ca.crt, certificate-authority-data: ${base64(PEM)}}`,
    ),
    'KUBECONFIG_INVALID',
    'invalid configuration: certificate-authority-data and certificate-authority are both specified for k. certificate-authority-data will override.',
    { '/k/ca.crt': PEM },
  ],
  [
    'Given two auth methods, then validation error.',
    config(SERVER, '{token: t, username: a, password: b}'),
    'KUBECONFIG_INVALID',
    'invalid configuration: more than one authentication method found for u; found [token basicAuth], only one is allowed',
  ],
  [
    'CA with insecure-skip-tls-verify',
    config(
      `{server: "https://s", insecure-skip-tls-verify: true, certificate-authority-data: ${base64(PEM)}}`,
    ),
    'KUBECONFIG_INVALID',
    'specifying a root certificates file with the insecure flag is not allowed',
  ],
  [
    'client certificate without key',
    config(SERVER, `{client-certificate-data: ${base64(PEM)}}`),
    'KUBECONFIG_INVALID',
    'invalid configuration: client-key-data or client-key must be specified for u to use the clientCert authentication method.',
  ],
  [
    'exec without command, apiVersion and interactiveMode',
    config(SERVER, '{exec: {args: [a]}}'),
    'KUBECONFIG_INVALID',
    'invalid configuration: [command must be specified for u to use exec authentication plugin, apiVersion must be specified for u to use exec authentication plugin, interactiveMode must be specified for u to use exec authentication plugin]',
  ],
  [
    'exec with auth-provider',
    config(
      SERVER,
      '{exec: {command: c, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}, auth-provider: {name: gcp}}',
    ),
    'KUBECONFIG_INVALID',
    'invalid configuration: authProvider cannot be provided in combination with an exec plugin for u',
  ],
  [
    'a text in place of an object',
    'hello',
    'KUBECONFIG_MALFORMED',
    `error loading config file "/k/config": couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  ],
  [
    'another kind',
    config(SERVER).replace('kind: Config', 'kind: Pod'),
    'KUBECONFIG_MALFORMED',
    'error loading config file "/k/config": no kind "Pod" is registered for version "v1" in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"',
  ],
  [
    'another version',
    config(SERVER).replace('apiVersion: v1', 'apiVersion: v2'),
    'KUBECONFIG_MALFORMED',
    'error loading config file "/k/config": no kind "Config" is registered for version "v2" in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"',
  ],
  [
    'two entries of one name, which are not shown',
    'users: [{name: u, user: {token: secret}}, {name: u, user: {token: secret}}]',
    'KUBECONFIG_MALFORMED',
    'error loading config file "/k/config": error converting *[]NamedAuthInfo into *map[string]*api.AuthInfo: duplicate name "u" in list',
  ],
  [
    'a server that is no URL',
    config('{server: "https://s:abc"}'),
    'KUBECONFIG_INVALID',
    'host must be a URL or a host:port pair: "https://s:abc"',
  ],
  [
    'a proxy of an unknown scheme',
    config('{server: "https://s", proxy-url: "ftp://x"}'),
    'KUBECONFIG_INVALID',
    `invalid configuration: invalid 'proxy-url' "ftp://x" for cluster "k": unsupported scheme "ftp", must be http, https, or socks5`,
  ],
  [
    'a proxy without a scheme',
    config('{server: "https://s", proxy-url: "127.0.0.1:1"}'),
    'KUBECONFIG_INVALID',
    `invalid configuration: invalid 'proxy-url' "127.0.0.1:1" for cluster "k": could not parse: 127.0.0.1:1`,
  ],
  [
    'a proxy that is no URL',
    config('{server: "https://s", proxy-url: "http://%zz"}'),
    'KUBECONFIG_INVALID',
    `invalid configuration: invalid 'proxy-url' "http://%zz" for cluster "k": could not parse: http://%zz`,
  ],
  [
    'a CA file without a certificate',
    config('{server: "https://s", certificate-authority: ca.crt}'),
    'AUTHORITIES_UNUSABLE',
    'unable to load root certificates: unable to parse bytes as PEM block',
    { '/k/ca.crt': 'hello' },
  ],
  [
    'an empty tokenFile',
    config(SERVER, '{tokenFile: t}'),
    'CREDENTIALS_UNREADABLE',
    'read empty token from file "/k/t"',
    { '/k/t': '' },
  ],
  [
    'certificate and key that are none',
    config(
      SERVER,
      `{client-certificate-data: ${base64('hello')}, client-key-data: ${base64(aliceKey)}}`,
    ),
    'CREDENTIALS_UNREADABLE',
    'tls: failed to find any PEM data in certificate input',
  ],
  [
    'certificate and key of two people',
    config(
      SERVER,
      `{client-certificate-data: ${base64(aliceCertificate)}, client-key-data: ${base64(bobKey)}}`,
    ),
    'CREDENTIALS_UNREADABLE',
    'tls: private key does not match public key',
  ],
  [
    'impersonated groups without a user',
    config(SERVER, '{as-groups: [g]}'),
    'KUBECONFIG_INVALID',
    'invalid configuration: requesting uid, groups or user-extra for u without impersonating a user',
  ],
]
for (const [title, text, code, message, files] of FAULTS) {
  test(title, () => assert.rejects(load(text, files), fails(code, message)))
}

test('accepted: a missing user (anonymous), exec with a token, a certificate with a token', async () => {
  assert.equal(
    (await load(config(SERVER, '{}', '{cluster: k, user: gone}'))).bearerToken,
    undefined,
  )
  const exec =
    '{token: t, exec: {command: ./bin/login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}'
  assert.equal((await load(config(SERVER, exec))).exec?.command, '/k/bin/login')
  const both = `{token: t, client-certificate-data: ${base64(aliceCertificate)}, client-key-data: ${base64(aliceKey)}}`
  assert.equal((await load(config(SERVER, both))).tls.keyData, aliceKey)
})

test('accepted: kind and apiVersion left out, an empty proxy-url and an empty tls-server-name', async () => {
  const bare = config('{server: "https://s", proxy-url: "", tls-server-name: ""}', '{token: t}')
  const { proxyUrl, tls, bearerToken } = await load(bare.split('\n').slice(2).join('\n'))
  assert.deepEqual([proxyUrl, tls.serverName, bearerToken], [undefined, undefined, 't'])
})

test('credentials are attached only for TLS servers', async () => {
  const plain = await load(config('{server: "http://s"}', '{token: t}'))
  assert.equal(plain.bearerToken, undefined)
  assert.equal((await load(config('{server: "s:8080"}', '{token: t}'))).server, 'http://s:8080')
  assert.equal(
    (await load(config('{server: s, insecure-skip-tls-verify: true}', '{token: t}'))).server,
    'http://s',
    'what else is said of TLS does not make it one',
  )
})

test('Given a missing explicit file, then error.', async () => {
  const missing = fails('KUBECONFIG_NOT_FOUND', 'stat /gone: no such file or directory')
  await assert.rejects(loadManagerConfig({ kubeconfig: '/gone' }, new FakeHost()), missing)
  await assert.rejects(loadClientConfig({ kubeconfig: '/gone' }, new FakeHost()), missing)
})

test('Given neither kubeconfig nor server, then in-cluster is tried first; a given file beats in-cluster.', async () => {
  const host = new FakeHost({ ...IN_CLUSTER_FILES, '/k': config(SERVER) }, IN_CLUSTER_VARIABLES)
  const pod = await loadManagerConfig({}, host)
  assert.deepEqual(pod, {
    server: 'https://10.0.0.1:443',
    tls: { caFile: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
    bearerToken: 'pod-token',
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    namespace: 'pod-namespace',
  })
  assert.equal((await loadManagerConfig({ kubeconfig: '/k' }, host)).server, 'https://s:6443')
  assert.equal((await loadManagerConfig({ master: 'https://m' }, host)).server, 'https://m')
  assert.equal(
    (await loadManagerConfig({ kubeconfig: '/k', master: 'https://m' }, host)).server,
    'https://m',
  )
})

test('a manager outside of a pod reads neither KUBECONFIG nor the home folder', async () => {
  const host = new FakeHost(
    { '/k': config(SERVER), '/home/alice/.kube/config': config(SERVER) },
    { KUBECONFIG: '/k' },
  )
  await assert.rejects(
    loadManagerConfig({}, host),
    fails('CONFIGURATION_MISSING', NO_CONFIGURATION),
  )
})

test('in-cluster: brackets for IPv6, missing variables and an unreadable token are errors, an unreadable CA is logged', async () => {
  const six = { ...IN_CLUSTER_VARIABLES, KUBERNETES_SERVICE_HOST: 'fd00::1' }
  assert.equal(
    (await inClusterConfig(new FakeHost(IN_CLUSTER_FILES, six))).server,
    'https://[fd00::1]:443',
  )
  await assert.rejects(
    inClusterConfig(new FakeHost(IN_CLUSTER_FILES)),
    fails(
      'IN_CLUSTER_UNAVAILABLE',
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    ),
  )
  await assert.rejects(
    inClusterConfig(new FakeHost({}, IN_CLUSTER_VARIABLES)),
    fails('IN_CLUSTER_UNAVAILABLE', /^open .*token: no such file/),
  )
  const logger = new RecordingLogger()
  const host = new FakeHost(
    { '/var/run/secrets/kubernetes.io/serviceaccount/token': 't' },
    IN_CLUSTER_VARIABLES,
  )
  assert.equal((await inClusterConfig(host, logger)).tls.caFile, undefined)
  assert.equal(logger.lines[0]?.severity, 'error')
})

test('in-cluster: a CA that is none is logged and not used; an empty token and an impossible address end a manager', async () => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
  const logger = new RecordingLogger()
  for (const ca of ['', 'hello']) {
    const files = { ...IN_CLUSTER_FILES, [`${folder}/ca.crt`]: ca }
    const pod = await inClusterConfig(new FakeHost(files, IN_CLUSTER_VARIABLES), logger)
    assert.deepEqual(pod.tls, {})
  }
  assert.deepEqual(
    logger.lines.map(({ severity }) => severity),
    ['error', 'error'],
  )
  const empty = new FakeHost({ ...IN_CLUSTER_FILES, [`${folder}/token`]: '' }, IN_CLUSTER_VARIABLES)
  await assert.rejects(
    loadManagerConfig({}, empty),
    fails('CREDENTIALS_UNREADABLE', `read empty token from file "${folder}/token"`),
  )
  const port = { ...IN_CLUSTER_VARIABLES, KUBERNETES_SERVICE_PORT: 'abc' }
  await assert.rejects(
    loadManagerConfig({}, new FakeHost(IN_CLUSTER_FILES, port)),
    fails('KUBECONFIG_INVALID', 'host must be a URL or a host:port pair: "https://10.0.0.1:abc"'),
  )
})

test('Given several kubeconfig files, then first value wins and paths resolve per file.', async () => {
  const host = new FakeHost(
    {
      '/one/config':
        'current-context: c\nclusters: [{name: k, cluster: {server: "https://one", certificate-authority: ca.crt}}]',
      '/two/config': `current-context: other
clusters: [{name: k, cluster: {server: "https://two", tls-server-name: two}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {tokenFile: token}}]`,
      '/one/ca.crt': PEM,
      '/two/token': 't',
    },
    { KUBECONFIG: '/missing::/one/config:/two/config:/one/config' },
  )
  const loaded = await loadClientConfig({}, host)
  assert.equal(loaded.server, 'https://one')
  assert.equal(loaded.tls.caFile, '/one/ca.crt')
  assert.equal(loaded.tls.serverName, undefined)
  assert.equal(loaded.bearerTokenFile, '/two/token')
  assert.deepEqual(kubeconfigPaths(host), ['/missing', '/one/config', '/two/config'])
})

test('default rules: the home folder without KUBECONFIG; nothing there: in-cluster; nothing at all: the error', async () => {
  const home = new FakeHost(
    { '/home/alice/.kube/config': config(SERVER), ...IN_CLUSTER_FILES },
    IN_CLUSTER_VARIABLES,
  )
  assert.equal((await loadClientConfig({}, home)).server, 'https://s:6443')
  assert.equal(
    (await loadClientConfig({}, new FakeHost(IN_CLUSTER_FILES, IN_CLUSTER_VARIABLES))).server,
    'https://10.0.0.1:443',
  )
  for (const variables of [{}, IN_CLUSTER_VARIABLES])
    await assert.rejects(
      loadClientConfig({}, new FakeHost({}, variables)),
      fails('CONFIGURATION_MISSING', NO_CONFIGURATION),
      'without a token a pod is none',
    )
})

test('overrides replace single settings; names that do not exist are errors', async () => {
  const host = new FakeHost({ '/k': `${config(SERVER, '{token: t}')}` })
  const from = (overrides: object): ReturnType<typeof loadClientConfig> =>
    loadClientConfig({ kubeconfig: '/k', overrides }, host)
  assert.equal((await from({ server: 'https://o' })).server, 'https://o')
  assert.equal((await from({ namespace: 'other' })).namespace, 'other')
  assert.equal((await from({ token: 'o' })).bearerToken, 'o')
  await assert.rejects(
    from({ context: 'x' }),
    fails('KUBECONFIG_ENTRY_MISSING', 'context "x" does not exist'),
  )
  await assert.rejects(
    from({ cluster: 'x' }),
    fails('KUBECONFIG_ENTRY_MISSING', 'cluster "x" does not exist'),
  )
  await assert.rejects(
    from({ user: 'x' }),
    fails('KUBECONFIG_ENTRY_MISSING', 'auth info "x" does not exist'),
  )
})

test("a server of one's own does not have the TLS name of the one in the file", async () => {
  const host = new FakeHost({ '/k': config('{server: "https://s", tls-server-name: inner}') })
  const nameFor = async (overrides: object): Promise<string | undefined> =>
    (await loadClientConfig({ kubeconfig: '/k', overrides }, host)).tls.serverName
  assert.equal(await nameFor({}), 'inner')
  assert.equal(await nameFor({ server: 'https://o' }), undefined)
  assert.equal(await nameFor({ server: 'https://o', tlsServerName: 'other' }), 'other')
})

test("Given an insecure override without a CA override, then the file's CA is dropped.", async () => {
  const host = new FakeHost({
    '/k': config(`{server: "https://s", certificate-authority-data: ${base64(PEM)}}`),
  })
  const loaded = await loadClientConfig(
    { kubeconfig: '/k', overrides: { insecureSkipTlsVerify: true } },
    host,
  )
  assert.deepEqual(
    [loaded.tls.insecure, loaded.tls.caData, loaded.tls.caFile],
    [true, undefined, undefined],
  )
})
