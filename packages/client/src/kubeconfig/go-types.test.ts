import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseKubeconfig } from './parse.ts'

const inCluster = (cluster: object) => ({ clusters: [{ name: 'c', cluster }] })
const inUser = (user: object) => ({ users: [{ name: 'u', user }] })
const inExec = (exec: unknown) => inUser({ exec })

/** Recorded from kube-controller-manager 1.36.2. Behind `json: cannot unmarshal`, with ` into Go struct field ` and ` of type ` as blanks. */
const WRONG_TYPES: readonly (readonly [object, string])[] = [
  [{ clusters: ['x'] }, 'string Config.clusters v1.NamedCluster'],
  [{ contexts: 'x' }, 'string Config.contexts []v1.NamedContext'],
  [{ 'current-context': {}, users: 5 }, 'object Config.current-context string'],
  [{ users: 5, contexts: 5 }, 'number Config.contexts []v1.NamedContext'],
  [{ extensions: [{ name: 5 }] }, 'number NamedExtension.extensions.name string'],
  [{ preferences: { colors: 1 } }, 'number Preferences.preferences.colors bool'],
  [inUser({ username: 5, password: 5 }), 'number AuthInfo.users.user.password string'],
  [inUser({ 'as-groups': 'a' }), 'string AuthInfo.users.user.as-groups []string'],
  [inUser({ 'as-groups': [5] }), 'number AuthInfo.users.user.as-groups string'],
  [
    inUser({ 'as-user-extra': 'a' }),
    'string AuthInfo.users.user.as-user-extra map[string][]string',
  ],
  [inUser({ 'as-user-extra': { a: [5] } }), 'number AuthInfo.users.user.as-user-extra string'],
  [
    inUser({ 'auth-provider': { config: { a: 5 } } }),
    'number AuthProviderConfig.users.user.auth-provider.config string',
  ],
  [inExec({ env: ['x'] }), 'string ExecConfig.users.user.exec.env v1.ExecEnvVar'],
  [inExec({ env: [{ name: 5 }] }), 'number ExecEnvVar.users.user.exec.env.name string'],
  [
    inExec({ provideClusterInfo: 'x' }),
    'string ExecConfig.users.user.exec.provideClusterInfo bool',
  ],
  [
    inCluster({ 'certificate-authority-data': 5 }),
    'number Cluster.clusters.cluster.certificate-authority-data []uint8',
  ],
]

test('a field of another type is told as client-go tells it, of several the first by name', async () => {
  for (const [config, told] of WRONG_TYPES) {
    const [what, field, type] = told.split(' ')
    await assert.rejects(parseKubeconfig(JSON.stringify(config), '/k'), {
      message: `error loading config file "/k": json: cannot unmarshal ${what} into Go struct field ${field} of type ${type}`,
    })
  }
  const broken = inCluster({ 'certificate-authority-data': '!!', server: 5 })
  await assert.rejects(
    parseKubeconfig(JSON.stringify(broken), '/k'),
    /illegal base64 data at input byte 0$/,
  )
  await assert.rejects(
    parseKubeconfig('{kind: 5}', '/k'),
    /: couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field \.kind of type string$/,
  )
})

test('null is the zero value of what it stands for, in lists too, and fields that nobody knows have no type', async () => {
  const { clusters, users, contexts } = await parseKubeconfig(
    '{clusters: [null], users: [{name: u, user: {exec: {env: [null], args: [null]}, token: null}}], contexts: null, Clusters: 5}',
    '/k',
  )
  assert.deepEqual([...clusters], [['', {}]])
  const { exec, token } = users.get('u')!
  assert.deepEqual([exec?.env, exec?.args, token], [[{ name: '', value: '' }], [''], undefined])
  assert.equal(contexts.size, 0)
})

test('who is to be impersonated by empty names is nobody', async () => {
  const nobody = inUser({ as: '', 'as-uid': '', 'as-groups': [], 'as-user-extra': {} })
  const { users } = await parseKubeconfig(JSON.stringify(nobody), '/k')
  assert.equal(users.get('u')?.impersonate, undefined)
})
