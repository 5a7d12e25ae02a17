/** Routes that lead nowhere: pods of all nodes live in one process. They are kept so that the loop that makes them has its work. */
import type { Route, Routes } from '@gyropilot/cloud-provider'
import type { CallFaults } from '@gyropilot/cloud-provider/in-memory'

export class RouteTable implements Routes {
  readonly #faults: CallFaults
  readonly #routes = new Map<string, Route>()

  constructor(faults: CallFaults) {
    this.#faults = faults
  }

  get all(): readonly Route[] {
    return [...this.#routes.values()]
  }

  listRoutes(clusterName: string, signal: AbortSignal): Promise<readonly Route[]> {
    return this.#faults.through('listRoutes', [clusterName], signal, () => this.all)
  }

  createRoute(
    clusterName: string,
    nameHint: string,
    route: Route,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#faults.through('createRoute', [clusterName, nameHint, route], signal, () => {
      const name = `${nameHint}-${route.destinationCidr}`
      this.#routes.set(name, { ...route, name })
    })
  }

  deleteRoute(clusterName: string, route: Route, signal: AbortSignal): Promise<void> {
    return this.#faults.through('deleteRoute', [clusterName, route], signal, () => {
      this.#routes.delete(route.name)
    })
  }
}
