/**
 * Port 10250 of a node as programs in pods reach it: who asks proves it with a token, and may what it may do with that node's
 * subresources. Contract: docs/behaviour/simulation/kubelet.md, Network.
 */
import { resources } from '@gyropilot/api'
import type { SubjectAccessReview, TokenReview } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { StatusError } from '@gyropilot/client'
import { PLAIN_TEXT } from '../answers/port-answers.ts'
import { responseBytes } from './response-bytes.ts'

export const KUBELET_PORT = 10_250

/** What a kubelet says to who speaks plain text. */
export const NOT_ENCRYPTED = responseBytes(400, 'Client sent an HTTP request to an HTTPS server.\n')

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** One request within TLS, and the answer to it. */
export async function kubeletAnswer(
  client: Client,
  nodeName: string,
  request: Uint8Array,
): Promise<Uint8Array> {
  const head = Buffer.from(request).toString('latin1').split('\r\n\r\n', 1)[0]!
  const [, method = '', path = ''] = /^([A-Z]+) (\S+) /.exec(head) ?? []
  const [, token] = /\r\nauthorization:\s*bearer (\S+)/i.exec(head) ?? []
  const user = token === undefined ? undefined : await userOf(client, token)
  if (user?.username === undefined) return responseBytes(401, 'Unauthorized')
  const verb = VERBS[method] ?? ''
  const subresources = subresourcesOf(path)
  if (!(await mayAsk(client, user, { verb, nodeName, subresources }))) {
    const what = `user=${user.username}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`
    return responseBytes(403, `Forbidden (${what})`)
  }
  return page(client, nodeName, method, path)
}

type User = NonNullable<NonNullable<TokenReview['status']>['user']>

async function userOf(client: Client, token: string): Promise<User | undefined> {
  const { status } = await client.resource(resources.tokenreviews).create({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token },
  })
  return status?.authenticated === true ? status.user : undefined
}

/** What of a node a path stands for, the finer first: whoever may proxy to it may all. */
function subresourcesOf(path: string): readonly string[] {
  const [pathname = ''] = path.split('?')
  const [, first = ''] = pathname.split('/')
  switch (first) {
    case 'stats':
    case 'metrics':
      return [first]
    case 'logs':
      return ['log']
    case 'checkpoint':
      return [first]
    case 'pods':
    case 'runningpods':
      return ['pods', 'proxy']
    case 'healthz':
    case 'configz':
      return [first, 'proxy']
    default:
      return ['proxy']
  }
}

interface Wish {
  readonly verb: string
  readonly nodeName: string
  readonly subresources: readonly string[]
}

async function mayAsk(
  client: Client,
  { username, groups, extra, uid }: User,
  { verb, nodeName, subresources }: Wish,
): Promise<boolean> {
  for (const subresource of subresources) {
    const review: SubjectAccessReview = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: username,
        groups,
        extra,
        uid,
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName },
      },
    }
    const { status } = await client.resource(resources.subjectaccessreviews).create(review)
    if (status?.allowed === true) return true
  }
  return false
}

/** As the node's proxy has it: the same server answers there. */
async function page(
  client: Client,
  nodeName: string,
  method: string,
  path: string,
): Promise<Uint8Array> {
  if (method !== 'GET' && method !== 'HEAD') return responseBytes(405, '405: Method Not Allowed\n')
  try {
    const answer = await client.raw({
      method: 'GET',
      path: `/api/v1/nodes/${nodeName}/proxy${path}`,
    })
    const isText = typeof answer === 'string'
    const text = isText ? answer : JSON.stringify(answer)
    return responseBytes(
      200,
      method === 'HEAD' ? '' : text,
      isText ? PLAIN_TEXT : 'application/json',
    )
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return responseBytes(error.code, `${error.message}\n`)
  }
}
