import type { RequestFacts } from '../simulated/request-facts.ts'
import type { RequestFault } from './injector.ts'

/** Whose connection the informers of a manager have; each controller has an account of its own. */
const INFORMERS = 'system:kube-controller-manager'

/**
 * A server that lags behind in one collection, to the informers of a process that starts anew: it cannot stream lists (a server
 * without that, or in trouble), and answers the first list as of one revision, whatever version is asked for. What comes after the
 * list comes as events; what controllers read themselves is not touched.
 */
export class OldLists {
  readonly #collection: string
  readonly #revision: number
  #isAnswered = false

  constructor(collection: string, revision: number) {
    this.#collection = collection
    this.#revision = revision
  }

  onRequest({ collection, link, verb, path }: RequestFacts): RequestFault | undefined {
    if (collection !== this.#collection || link !== INFORMERS || this.#isAnswered) return undefined
    if (verb === 'watch' && path.includes('sendInitialEvents=true'))
      return { kind: 'refusal', code: 500 }
    if (verb !== 'list') return undefined
    this.#isAnswered = true
    return { kind: 'stale', revision: this.#revision }
  }
}
