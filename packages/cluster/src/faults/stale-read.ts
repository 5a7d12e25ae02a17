/** Answers a read from an older state of the store, as a server that lags behind would. */
import type { ApiServer, ServerResponse, StoreEvent } from '@gyropilot/api-server'
import type { TransportRequest } from '@gyropilot/client'
import type { RequestFacts } from '../simulated/request-facts.ts'
import { notFound } from './refusals.ts'

const REMEMBERED = 64

/** The revisions at which each collection changed lately. */
export class RecentRevisions {
  readonly #byCollection = new Map<string, number[]>()

  committed({ collection, revision }: StoreEvent): void {
    const revisions = this.#byCollection.get(collection) ?? []
    this.#byCollection.set(collection, revisions)
    revisions.push(revision)
    if (revisions.length > REMEMBERED) revisions.shift()
  }

  /** The revision just before the last `behind` changes; undefined when so many are not remembered. */
  before(collection: string, behind: number): number | undefined {
    const revision = this.#byCollection.get(collection)?.at(-behind)
    return revision === undefined ? undefined : revision - 1
  }
}

type Send = (path: string) => Promise<ServerResponse>

/**
 * Undefined when there is no older state that could have been answered: nothing changed, it is no longer kept, or the
 * caller has asked for one not older than it has seen.
 */
export async function staleAnswer(
  facts: RequestFacts,
  request: Pick<TransportRequest, 'path'>,
  revision: number | undefined,
  { store }: Pick<ApiServer, 'store'>,
  send: Send,
): Promise<ServerResponse | undefined> {
  const { collection, name, verb } = facts
  if (revision === undefined || revision < Math.max(1, store.oldestRevision(collection)))
    return undefined
  const question = request.path.indexOf('?')
  const query = new URLSearchParams(question < 0 ? '' : request.path.slice(question + 1))
  if (Number(query.get('resourceVersion') || 0) > revision || query.has('continue'))
    return undefined
  query.set('resourceVersion', String(revision))
  query.set('resourceVersionMatch', 'Exact')
  const path = question < 0 ? request.path : request.path.slice(0, question)
  if (verb === 'list') return send(`${path}?${query}`)
  if (verb !== 'get' || facts.subresource !== '') return undefined
  query.set('fieldSelector', `metadata.name=${name}`)
  const answer = await send(`${path.slice(0, path.lastIndexOf('/'))}?${query}`)
  if (answer.status !== 200 || answer.body.kind !== 'value') return undefined
  const list = answer.body.value as { kind: string; apiVersion: string; items: object[] }
  const [item] = list.items
  if (item === undefined) return notFound(collection, name) as ServerResponse
  const object = { kind: list.kind.replace(/List$/, ''), apiVersion: list.apiVersion, ...item }
  return { ...answer, body: { kind: 'value', value: object } }
}
