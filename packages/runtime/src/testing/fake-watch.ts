import type { KubernetesObject, ResourceType, Status, WatchEvent } from '@gyropilot/api'
import type { WatchOptions } from '@gyropilot/client'

/** The server's end of a watch. */
export class FakeWatch implements AsyncIterable<WatchEvent> {
  readonly type: ResourceType
  readonly namespace: string | undefined
  readonly options: WatchOptions
  readonly #pending: WatchEvent[] = []
  readonly #onEnd: () => void
  #failure: unknown
  #ended = false
  #wake: (() => void) | undefined

  constructor(
    type: ResourceType,
    namespace: string | undefined,
    options: WatchOptions,
    onEnd: () => void,
  ) {
    this.type = type
    this.namespace = namespace
    this.options = options
    this.#onEnd = onEnd
    options.signal?.addEventListener('abort', () => this.end(), { once: true })
  }

  send(...events: readonly WatchEvent[]): void {
    const metadataOnly = this.options.metadataOnly === true
    for (const event of events) {
      const whole = event.type === 'ERROR' || !metadataOnly
      this.#pending.push(whole ? event : { ...event, object: metadataOf(event.object) })
    }
    this.#wake?.()
  }

  bookmark(resourceVersion: string, annotations?: Record<string, string>): void {
    const { kind } = this.type
    const apiVersion =
      this.type.group === '' ? this.type.version : `${this.type.group}/${this.type.version}`
    this.send({
      type: 'BOOKMARK',
      object: { kind, apiVersion, metadata: { resourceVersion, annotations } },
    })
  }

  error(status: Partial<Status>): void {
    this.send({
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', ...status },
    })
  }

  /** As a server does at the end of the watch's time; with an error, as a network that breaks. */
  end(failure?: unknown): void {
    this.#failure = failure
    this.#ended = true
    this.#onEnd()
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent> {
    try {
      for (;;) {
        const next = this.#pending.shift()
        if (next !== undefined) yield next
        else if (this.#failure !== undefined) throw this.#failure
        else if (this.#ended) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.#onEnd()
    }
  }
}

/** The form of an object that was asked for as metadata. */
export function metadataOf({ metadata }: KubernetesObject): KubernetesObject {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }
}
