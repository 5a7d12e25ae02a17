import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Informer, InformerFactory } from '../informer.ts'
import type { SharedInformerFactory } from './informer-factory.ts'

/**
 * For whoever needs no more than metadata: what the process has a cache of already is not watched and kept a second time.
 * Other types are watched by their metadata, and stay so once they are. Whole objects are what such an informer may give.
 * Contract: docs/behaviour/runtime/manager.md, Running the controllers.
 */
export class WholeOrMetadataInformers implements InformerFactory {
  readonly #whole: SharedInformerFactory
  readonly #metadata: SharedInformerFactory

  constructor(whole: SharedInformerFactory, metadata: SharedInformerFactory) {
    this.#whole = whole
    this.#metadata = metadata
  }

  informer<T extends KubernetesObject>(type: ResourceType<T>): Informer<T> {
    const isWatchedWhole = this.#whole.has(type) && !this.#metadata.has(type)
    return (isWatchedWhole ? this.#whole : this.#metadata).informer(type)
  }

  start(signal: AbortSignal): void {
    this.#whole.start(signal)
    this.#metadata.start(signal)
  }

  async waitForCacheSync(signal: AbortSignal): Promise<boolean> {
    const synced = await Promise.all([
      this.#whole.waitForCacheSync(signal),
      this.#metadata.waitForCacheSync(signal),
    ])
    return synced.every((done) => done)
  }

  /** Of both. */
  async shutdown(): Promise<void> {
    await Promise.all([this.#whole.shutdown(), this.#metadata.shutdown()])
  }
}
