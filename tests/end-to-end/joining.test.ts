/** A node joins, and a person gets a certificate: over TLS, with what the server accepts in the end. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import { generateKeyPair, privateKeyPem } from '@gyropilot/foundation/x509'
import { startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const WHO_AM_I = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const WITHIN_MS = 30_000

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro(['--components=api-server,controller-manager'])
})
after(() => gyro.stop())

interface Credentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

interface Answered {
  readonly status: number
  readonly body: any // oxlint-disable-line typescript/no-explicit-any -- what the server answers
}

/** A connection of its own for every call: certificates belong to connections. */
function call(path: string, credentials: Credentials, body?: object): Promise<Answered> {
  const { token, ...certificate } = credentials
  const data = /certificate-authority-data: (\S+)/.exec(readFileSync(gyro.kubeconfig, 'utf8'))![1]!
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${gyro.server}${path}`,
      {
        method: body === undefined ? 'GET' : 'POST',
        agent: false,
        ca: Buffer.from(data, 'base64').toString(),
        ...certificate,
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function create(path: string, object: object): Promise<void> {
  const { status, body } = await gyro.request(path, { method: 'POST', body: object })
  assert.equal(status, 201, JSON.stringify(body))
}

const bindingOf = (role: string) => ({
  metadata: { name: role },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' },
  ],
})

const requestOf = (name: string, pem: string, signer: string) => ({
  metadata: { name },
  spec: {
    request: Buffer.from(pem).toString('base64'),
    signerName: `kubernetes.io/${signer}`,
    usages: ['digital signature', 'client auth'],
  },
})

function issued(name: string): Promise<string> {
  return gyro.until(`the certificate of ${name}`, WITHIN_MS, REQUESTS, (objects) => {
    const found = objects.find(({ metadata }) => metadata.name === name)?.status?.certificate
    return found === undefined ? undefined : Buffer.from(found, 'base64').toString()
  })
}

const NODE = { commonName: 'system:node:n1', organizations: ['system:nodes'] }
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' }

async function createBootstrapToken(): Promise<void> {
  await create('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: `bootstrap-token-${TOKEN.id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': TOKEN.id,
      'token-secret': TOKEN.secret,
      'usage-bootstrap-authentication': 'true',
    },
  })
  await create(BINDINGS, bindingOf('system:node-bootstrapper'))
  const approved = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'
  await create(BINDINGS, bindingOf(approved))
}

test('a node joins: bootstrap token, request approved, client certificate issued and accepted', async () => {
  await createBootstrapToken()
  const { privateKey } = generateKeyPair()
  const asked = await call(
    REQUESTS,
    { token: `${TOKEN.id}.${TOKEN.secret}` },
    requestOf('n1', signingRequestPem({ ...NODE, privateKey }), 'kube-apiserver-client-kubelet'),
  )
  assert.equal(asked.status, 201, JSON.stringify(asked.body))
  assert.equal(asked.body.spec.username, 'system:bootstrap:abcdef')
  const kubelet = { cert: await issued('n1'), key: privateKeyPem(privateKey) }
  const registered = await call('/api/v1/nodes', kubelet, { metadata: { name: 'n1' } })
  assert.equal(registered.status, 201, JSON.stringify(registered.body))
  const { body } = await call('/api/v1/nodes/n1', kubelet)
  assert.equal(body.metadata.name, 'n1')
  const other = await call('/api/v1/nodes/n2', kubelet)
  assert.equal(other.status, 403, JSON.stringify(other.body))
  const lease = await call(
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    kubelet,
    { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1', leaseDurationSeconds: 40 } },
  )
  assert.equal(lease.status, 201, JSON.stringify(lease.body))
})

test('Given a CSR and an approval by an admin, then a usable client certificate', async () => {
  const { privateKey } = generateKeyPair()
  const pem = signingRequestPem({ commonName: 'bob', organizations: ['devs'], privateKey })
  await create(REQUESTS, requestOf('bob', pem, 'kube-apiserver-client'))
  const { body: object } = await gyro.request(`${REQUESTS}/bob`)
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }]
  const { status } = await gyro.request(`${REQUESTS}/bob/approval`, {
    method: 'PUT',
    body: { ...object, status: { conditions } },
  })
  assert.equal(status, 200)
  const bob = { cert: await issued('bob'), key: privateKeyPem(privateKey) }
  const { body } = await call(WHO_AM_I, bob, {})
  assert.equal(body.status?.userInfo?.username, 'bob', JSON.stringify(body))
  assert.deepEqual(body.status.userInfo.groups, ['devs', 'system:authenticated'])
  const stranger = { cert: bob.cert, key: privateKeyPem(generateKeyPair().privateKey) }
  await assert.rejects(call(WHO_AM_I, stranger, {}))
})
