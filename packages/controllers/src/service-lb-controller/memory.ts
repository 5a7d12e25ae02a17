import type { Node, Service } from '@gyropilot/api'

/** What this process knows of balancers, by key of their Service. It is lost with the process. */
export class BalancerMemory {
  readonly #services = new Map<string, Service>()
  readonly #backends = new Map<string, readonly Node[]>()

  /** As it was last processed. */
  serviceOf(key: string): Service | undefined {
    return this.#services.get(key)
  }

  remember(key: string, service: Service): void {
    this.#services.set(key, service)
  }

  get keys(): readonly string[] {
    return [...this.#services.keys()]
  }

  /** Those that the provider was last given; undefined: it was never given any. */
  backendsOf(key: string): readonly Node[] | undefined {
    return this.#backends.get(key)
  }

  rememberBackends(key: string, nodes: readonly Node[]): void {
    this.#backends.set(key, nodes)
  }

  forget(key: string): void {
    this.#services.delete(key)
    this.#backends.delete(key)
  }
}
