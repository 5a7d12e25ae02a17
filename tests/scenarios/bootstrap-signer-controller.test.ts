/** Bootstrap tokens sign what a joining node downloads. */
import { createHmac } from 'node:crypto'
import { resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 5_000
const OPTIONS = { controllers: ['*', 'bootstrap-signer-controller', 'token-cleaner-controller'] }

function token(id: string): Secret {
  return {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': 'word', 'usage-bootstrap-signing': 'true' },
  }
}

async function publish(world: World, kubeconfig: string): Promise<void> {
  const metadata = { name: 'cluster-info', namespace: 'kube-public' }
  await world.of(resources.configmaps, 'kube-public').create({ metadata, data: { kubeconfig } })
}

function expected(id: string, content: string): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const header = encode(`{"alg":"HS256","kid":"${id}"}`)
  const mac = createHmac('sha256', 'word').update(`${header}.${encode(content)}`)
  return `${header}..${mac.digest('base64url')}`
}

async function untilSigned(world: World, id: string, signature: string | undefined): Promise<void> {
  await world.until(`the signature of ${id} is ${signature}`, WITHIN_MS, async () => {
    const info = await world.find(resources.configmaps, 'cluster-info', 'kube-public')
    return info?.data?.[`jws-kubeconfig-${id}`] === signature ? true : undefined
  })
}

scenario(
  'Given a new token in a cluster, then `jws-kubeconfig-<id>` appears',
  async (world) => {
    await publish(world, 'where to go')
    await world.of(resources.secrets, 'kube-system').create(token('abcdef'))
    await untilSigned(world, 'abcdef', expected('abcdef', 'where to go'))
  },
  OPTIONS,
)

scenario(
  'Given `kubeconfig` changes, then the signature changes',
  async (world) => {
    await world.of(resources.secrets, 'kube-system').create(token('abcdef'))
    await publish(world, 'where to go')
    await untilSigned(world, 'abcdef', expected('abcdef', 'where to go'))
    const value = { data: { kubeconfig: 'elsewhere' } }
    await world
      .of(resources.configmaps, 'kube-public')
      .patch('cluster-info', { type: 'merge', value })
    await untilSigned(world, 'abcdef', expected('abcdef', 'elsewhere'))
  },
  OPTIONS,
)

scenario(
  'Given the token Secret is deleted, then its signature disappears',
  async (world) => {
    await publish(world, 'where to go')
    const secrets = world.of(resources.secrets, 'kube-system')
    await secrets.create(token('abcdef'))
    await secrets.create(token('second'))
    await untilSigned(world, 'abcdef', expected('abcdef', 'where to go'))
    await secrets.delete('bootstrap-token-abcdef')
    await untilSigned(world, 'abcdef', undefined)
    await untilSigned(world, 'second', expected('second', 'where to go'))
  },
  OPTIONS,
)
