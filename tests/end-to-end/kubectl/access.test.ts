/** Commands of kubectl about identities and rights. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ConfigMap, Secret } from '@gyropilot/api'
import { begin, expectAll, fed, file, finish, gyro, refuseAll } from './session.ts'

before(begin)
after(finish)

test('auth can-i, whoami, reconcile; create token', () => {
  assert.equal(gyro.ok('auth', 'can-i', 'create', 'pods'), 'yes\n')
  const refused = gyro.kubectl('auth', 'can-i', 'delete', 'pods', '--as=nobody')
  assert.deepEqual([refused.code, refused.stdout], [1, 'no\n'])
  assert.match(
    gyro.ok('auth', 'can-i', '--list'),
    /^Resources +Non-Resource URLs +Resource Names +Verbs/,
  )
  assert.match(gyro.ok('auth', 'whoami'), /system:masters/)
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules,
  }
  assert.match(gyro.ok('auth', 'reconcile', '-f', file('role.json', role)), /reader reconciled/)
  gyro.ok(
    'create',
    'clusterrolebinding',
    'reader',
    '--clusterrole=reader',
    '--serviceaccount=default:default',
  )
  const token = gyro.ok('create', 'token', 'default').trim()
  const account = [
    '--token',
    token,
    '--kubeconfig',
    '/dev/null',
    '--server',
    gyro.server,
    '--insecure-skip-tls-verify',
  ]
  assert.match(gyro.ok(...account, 'auth', 'whoami'), /system:serviceaccount:default:default/)
  gyro.ok(...account, 'get', 'pods')
  assert.match(
    gyro.kubectl(...account, 'get', 'secrets').stderr,
    /\(Forbidden\).*cannot list resource "secrets"/,
  )
})

test('a bootstrap token signs the cluster information, and is forgotten when it ends', async () => {
  const token = (id: string, expiration: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      expiration,
    },
  })
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  gyro.apply(token('abcdef', inHours(1)))
  const clusterInfo = '/api/v1/namespaces/kube-public/configmaps'
  const signature = await gyro.until(
    'a signature',
    10_000,
    clusterInfo,
    (found: readonly ConfigMap[]) =>
      found.map(({ data }) => data?.['jws-kubeconfig-abcdef']).find(Boolean),
  )
  assert.match(signature, /^ey[\w-]+\.\.[\w-]+$/)
  const read = gyro.ok(
    '--as=system:anonymous',
    '--namespace=kube-public',
    'get',
    'configmap/cluster-info',
    '-o=yaml',
  )
  assert.ok(read.includes(`server: ${gyro.server}`))

  gyro.apply(token('fedcba', inHours(-1)))
  const secrets = '/api/v1/namespaces/kube-system/secrets'
  await gyro.until('the end of the other', 10_000, secrets, (found: readonly Secret[]) =>
    found.some(({ metadata }) => metadata?.name === 'bootstrap-token-fedcba') ? undefined : true,
  )
})

test('the credentials of a node write about that node alone', () => {
  const asNode = ['--as=system:node:node-1', '--as-group=system:nodes']
  gyro.ok(...asNode, 'annotate', 'node', 'node-1', 'example.com/own=yes')
  const node = file('node.json', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-9' } })
  const made = gyro.kubectl(...asNode, 'create', '-f', node)
  assert.match(
    made.stderr,
    /nodes "node-9" is forbidden: node "node-1" is not allowed to modify node "node-9"/,
  )
})

test('certificate approve, deny', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = file('bob.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  const signed = spawnSync('openssl', ['req', '-new', '-key', key, '-subj', '/CN=bob'])
  const request = signed.stdout.toString('base64')
  for (const name of ['yes', 'no']) {
    gyro.apply({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request,
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    })
  }
  gyro.ok('certificate', 'approve', 'yes')
  gyro.ok('certificate', 'deny', 'no')
  const [condition] = gyro.json('get', 'csr', 'yes').status.conditions
  assert.deepEqual([condition.type, condition.reason], ['Approved', 'KubectlApprove'])
  assert.match(gyro.ok('get', 'csr', 'no'), /Denied/)
})

test('auth can-i: resources, subresources, paths, names, for others', () => {
  gyro.ok(
    'create',
    'role',
    'look',
    '--verb=get,list',
    '--resource=pods,pods/log',
    '--resource-name=one',
  )
  gyro.ok('create', 'rolebinding', 'look', '--role=look', '--user=eve', '--group=watchers')
  expectAll([
    ['auth can-i * *', 'yes\n'],
    ['auth can-i get pods/one --as=eve', 'yes\n'],
    ['auth can-i get pods/one --subresource=log --as=eve', 'yes\n'],
    ['auth can-i list pods/one --as=someone --as-group=others --as-group=watchers', 'yes\n'],
    ['auth can-i get /healthz --as=eve', 'yes\n'],
    [
      'auth can-i --list --as=eve',
      /^Resources +Non-Resource URLs +Resource Names +Verbs\n[^]*\npods +\[\] +\[one\] +\[get list\]\n/,
    ],
  ])
  for (const words of [
    'get pods',
    'get pods/two',
    'get pods/one -n kube-system',
    'get pods/one --subresource=exec',
    'get /metrics',
  ]) {
    const { code, stdout } = gyro.kubectl('auth', 'can-i', ...words.split(' '), '--as=eve')
    assert.deepEqual([code, stdout], [1, 'no\n'], words)
  }
  const strange = gyro.kubectl('auth', 'can-i', 'frob', 'nosuch')
  assert.match(
    strange.stderr,
    /the server doesn't have a resource type 'nosuch'[^]*verb 'frob' is not a known verb|verb 'frob' is not a known verb[^]*nosuch/,
  )
  assert.equal(gyro.kubectl('auth', 'can-i', '--list', '--as=eve').stderr, '')
})

test('auth whoami: every part of an identity', () => {
  const { userInfo } = JSON.parse(
    gyro.ok(
      'auth',
      'whoami',
      '-o',
      'json',
      '--as=jane',
      '--as-uid=7',
      '--as-group=a',
      '--as-group=b,c',
    ),
  ).status
  assert.deepEqual(userInfo, {
    username: 'jane',
    uid: '7',
    groups: ['a', 'b,c', 'system:authenticated'],
  })
  expectAll([
    [
      'auth whoami --as=system:serviceaccount:kube-system:x',
      /\nGroups +\[system:serviceaccounts system:serviceaccounts:kube-system system:authenticated\]\n/,
    ],
  ])
  refuseAll([
    [
      'auth whoami --as-group=a',
      /^error: requesting uid, groups or user-extra for .* without impersonating a user|^error: .*without impersonating a user/,
    ],
  ])
})

test('auth reconcile: adds what is missing, takes away on request, dry', () => {
  const role = (verbs: string[]): string =>
    file(`rec-${verbs.length}.json`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'rec', namespace: 'default' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    })
  const rules = 'get role rec -o jsonpath={.rules[*].verbs}'
  expectAll([
    [
      `auth reconcile -f ${role(['get', 'list'])} --dry-run=client`,
      /role\.rbac\.authorization\.k8s\.io\/rec reconciled \(dry run\)/,
    ],
    ['get role rec --ignore-not-found', ''],
    [
      `auth reconcile -f ${role(['get', 'list'])}`,
      /role\.rbac\.authorization\.k8s\.io\/rec reconciled\n/,
    ],
    [`auth reconcile -f ${role(['get'])}`, /rec reconciled/],
    [rules, '["get","list"]'],
    [`auth reconcile -f ${role(['get'])} --remove-extra-permissions`, /rec reconciled/],
    [rules, '["get"]'],
  ])
})

test('set subject, set selector', () => {
  gyro.ok('create', 'rolebinding', 'who', '--clusterrole=view', '--user=u')
  gyro.ok('create', 'service', 'clusterip', 'chosen', '--tcp=80')
  expectAll([
    [
      'set subject rolebinding who --serviceaccount=default:bot --group=g',
      'rolebinding.rbac.authorization.k8s.io/who subjects updated\n',
    ],
    [
      'get rolebinding who -o wide --no-headers',
      /^who +ClusterRole\/view +\S+ +u +g +default\/bot\n$/,
    ],
    ['set selector svc chosen app=x,tier=y', 'service/chosen selector updated\n'],
    ['get svc chosen -o jsonpath={.spec.selector}', '{"app":"x","tier":"y"}'],
  ])
})

test('create token: audience, duration, bound to a pod that must exist', () => {
  const claimsOf = (...more: string[]): Record<string, unknown> =>
    JSON.parse(
      Buffer.from(
        gyro.ok('create', 'token', 'default', ...more).split('.')[1]!,
        'base64url',
      ).toString(),
    )
  gyro.ok('run', 'bound', '--image=nginx')
  const { uid } = gyro.json('get', 'pod', 'bound').metadata
  const claims = claimsOf(
    '--audience=one',
    '--duration=20m',
    '--bound-object-kind=Pod',
    '--bound-object-name=bound',
    `--bound-object-uid=${uid}`,
  )
  assert.deepEqual(claims['aud'], ['one'])
  assert.equal(Number(claims['exp']) - Number(claims['iat']), 1200)
  assert.deepEqual((claims['kubernetes.io'] as { pod: object }).pod, { name: 'bound', uid })
  refuseAll([
    [
      'create token nosuch',
      /^error: failed to create token: serviceaccounts "nosuch" not found\n$/,
    ],
    ['create token default --duration=1m', /may not specify a duration less than 10 minutes/],
    [
      'create token default --bound-object-kind=Pod --bound-object-name=gone',
      /pods "gone" not found/,
    ],
  ])
})

test('who is nobody, and who is unknown', () => {
  const server = ['--kubeconfig=/dev/null', '--server', gyro.server, '--insecure-skip-tls-verify']
  const anonymous = fed('', [...server, 'get', 'pods', '--username=x', '--password=y'])
  assert.match(anonymous.stderr, /Unauthorized|must be logged in to the server|\(Forbidden\)/)
  const wrong = gyro.kubectl(...server, '--token=wrong', 'get', 'pods')
  assert.equal(wrong.stderr, 'error: You must be logged in to the server (Unauthorized)\n')
  refuseAll([
    [
      'get secrets --as=eve2 -n kube-system',
      'Error from server (Forbidden): secrets is forbidden: User "eve2" cannot list resource "secrets" in API group "" in the namespace "kube-system"\n',
    ],
    [
      'get nodes --as=eve2',
      'Error from server (Forbidden): nodes is forbidden: User "eve2" cannot list resource "nodes" in API group "" at the cluster scope\n',
    ],
  ])
})
