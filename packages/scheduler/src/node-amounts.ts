import type { ResourceAmounts } from '@gyropilot/api'

/**
 * Amounts of resources of a node. Each try of a pod reads them of hundreds of nodes: what pods ask for as a rule are numbers of the
 * object itself, and no table is looked into.
 */
export class NodeAmounts {
  /** In thousandths. */
  cpu = 0
  /** In bytes. */
  memory = 0
  pods = 0
  readonly #others = new Map<string, number>()

  get(resource: string): number {
    switch (resource) {
      case 'cpu':
        return this.cpu
      case 'memory':
        return this.memory
      case 'pods':
        return this.pods
      default:
        return this.#others.get(resource) ?? 0
    }
  }

  set(amounts: ResourceAmounts): void {
    this.cpu = this.memory = this.pods = 0
    this.#others.clear()
    this.add(amounts, 1)
  }

  add(amounts: ResourceAmounts, times: 1 | -1): void {
    for (const [resource, amount] of amounts) {
      const more = times * amount
      if (resource === 'cpu') this.cpu += more
      else if (resource === 'memory') this.memory += more
      else if (resource === 'pods') this.pods += more
      else this.#others.set(resource, this.get(resource) + more)
    }
  }
}
