/** A pass over all routes and nodes. Step numbers are those of docs/behaviour/controllers/node-route-controller.md, Sync. */
import { resources } from '@gyropilot/api'
import type { Cidr, Node } from '@gyropilot/api'
import type { CloudProvider, Route } from '@gyropilot/cloud-provider'
import { byString } from '@gyropilot/foundation'
import type { Counter } from '@gyropilot/foundation'
import { interpret, parallelize } from '@gyropilot/runtime'
import type { ControllerContext, Informer, Reconcile, World } from '@gyropilot/runtime'
import { askCloud, cloudCalls } from '../cloud-support/cloud-calls.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { hasItsRoutes, writeCondition } from './condition.ts'
import { EVENT_COMPONENT, OPERATIONS_AT_ONCE } from './config.ts'
import { createRoute } from './create-route.ts'
import { routeSyncs } from './metrics.ts'
import { planRoutes } from './plan.ts'
import type { Action, RoutePlan } from './plan.ts'

type Context = ControllerContext<ControllersConfiguration>

interface Creation {
  readonly node: Node
  readonly cidr: string
}

export class RoutePass {
  readonly nodes: Informer<Node>
  readonly #context: Context
  readonly #clusterCidrs: readonly Cidr[]
  readonly #world: Omit<World, 'signal'>
  readonly #passes: Counter

  constructor(context: Context, provider: CloudProvider, clusterCidrs: readonly Cidr[]) {
    const { client, clock, metrics, informers, name, trace } = context
    const recorder = context.recorder(EVENT_COMPONENT)
    this.#context = context
    this.#clusterCidrs = clusterCidrs
    this.nodes = informers.informer(resources.nodes)
    this.#passes = routeSyncs(metrics)
    this.#world = {
      client,
      clock,
      recordEvent: (event) => recorder.record(event),
      outside: cloudCalls(provider),
      onEffect: trace && ((effect, outcome) => trace.effect(name, '', effect, outcome)),
    }
  }

  get #clusterName(): string {
    return this.#context.configuration.cloud.clusterName
  }

  /** Rejects when routes cannot be listed; then nothing was touched. What fails otherwise is logged and left to the next pass. */
  async run(signal: AbortSignal): Promise<void> {
    // 1.
    this.#passes.increment()
    const listed = await this.#perform(askCloud('routes', 'listRoutes', this.#clusterName), signal)
    if (!listed.ok) throw new Error('error listing routes', { cause: listed.error })
    const nodes = this.nodes.lister.list().toSorted(byString(nameOf))
    // 2. to 5.
    const plan = planRoutes(nodes, listed.object, this.#clusterCidrs)
    const done = new Map([...plan.actions].map(([node, actions]) => [node, new Map(actions)]))
    // 6. and 7.
    const deletes = plan.toDelete.map((route) => () => this.#delete(route, signal))
    const creates = creationsOf(nodes, plan).map(
      (creation) => () => this.#create(creation, done, signal),
    )
    for (const batch of plan.deletesFirst ? [deletes, creates] : [[...deletes, ...creates]])
      await this.#allOf(batch, signal)
    // 8.
    const conditions = nodes.map((node) => () => this.#judge(node, done, plan, signal))
    await this.#allOf(conditions, signal)
  }

  async #delete(route: Route, signal: AbortSignal): Promise<void> {
    const rules = askCloud('routes', 'deleteRoute', this.#clusterName, route)
    const deleted = await this.#perform(rules, signal)
    if (!deleted.ok) this.#complain(deleted.error, 'A route could not be deleted', route.targetNode)
  }

  async #create(
    { node, cidr }: Creation,
    done: ReadonlyMap<string, Map<string, Action>>,
    signal: AbortSignal,
  ): Promise<void> {
    const error = await this.#perform(createRoute(node, cidr, this.#clusterName), signal)
    if (error === undefined) done.get(nameOf(node))!.set(cidr, 'keep')
    else this.#complain(error, 'A route could not be created', nameOf(node))
  }

  async #judge(
    node: Node,
    done: ReadonlyMap<string, ReadonlyMap<string, Action>>,
    { routed }: RoutePlan,
    signal: AbortSignal,
  ): Promise<void> {
    const name = nameOf(node)
    const isRouted = hasItsRoutes(done.get(name), routed.has(name))
    if (isRouted === undefined) return
    const error = await this.#perform(writeCondition(node, isRouted), signal)
    if (error !== undefined) this.#complain(error, 'The condition could not be written', name)
  }

  #complain(error: unknown, what: string, node: string): void {
    this.#context.logger.error(error, what, { node })
  }

  async #allOf(work: readonly (() => Promise<void>)[], signal: AbortSignal): Promise<void> {
    await parallelize(OPERATIONS_AT_ONCE, work.length, (index) => work[index]!(), { signal })
  }

  #perform<R>(rules: Reconcile<R>, signal: AbortSignal): Promise<R> {
    return interpret(rules, { ...this.#world, signal })
  }
}

/** A CIDR that a node lists twice is created twice, and the second time refused: its one action decides. */
function creationsOf(nodes: readonly Node[], { actions }: RoutePlan): readonly Creation[] {
  return nodes.flatMap((node) => {
    const wanted = actions.get(nameOf(node))
    return (node.spec?.podCIDRs ?? []).flatMap((cidr) =>
      wanted?.get(cidr) === 'keep' ? [] : [{ node, cidr }],
    )
  })
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
