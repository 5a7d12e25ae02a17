/**
 * persistentvolume-attach-detach-controller: volumes of pods come to their nodes, and leave them.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md.
 */
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { InterruptedByShutdown, inTurns, interpret, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Lister,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodClaimIndex, podsUsing } from '../volume-support/pod-claims.ts'
import { CLAIM_QUEUE, CONTROLLER_NAME, EVENT_COMPONENT, SERVICE_ACCOUNT } from './config.ts'
import { FULL_POPULATION_PERIOD_MS, POPULATOR_PERIOD_MS } from './config.ts'
import { attachDetachMetrics } from './metrics.ts'
import { Populator } from './populator.ts'
import { Reconciler } from './reconciler.ts'
import { giveSpecsToAttached, reconstruct } from './reconstruct.ts'
import { claimWatch, nodeHandler, podHandler, volumeHandler } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const persistentVolumeAttachDetachController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: CONTROLLER_NAME,
    aliases: ['attachdetach'],
    enabledByDefault: true,
    serviceAccount: SERVICE_ACCOUNT,
    build,
  }

function build(context: Context): RunnableController {
  const { informers, configuration } = context
  const { attachDetach } = configuration
  const pods = informers.informer(resources.pods)
  const nodes = informers.informer(resources.nodes)
  const volumes = informers.informer(resources.persistentvolumes)
  const attachments = informers.informer(resources.volumeattachments)
  addPodClaimIndex(pods)
  const stopping = new AbortController()
  const reconciler = reconcilerOf(context, stopping.signal)
  const { desired, actual } = reconciler
  const populator = populatorOf(context, reconciler)
  const podsOf = (claimKey: string): readonly Pod[] => podsUsing(pods.lister, claimKey)
  const claims = runKeyedController(claimLogic(context, podsOf, populator), context)
  reconciler.countIn(
    attachDetachMetrics(context.metrics, {
      desired,
      actual,
      populator,
      pods: () => pods.lister.list(),
    }),
  )
  /** What happens before is found by the reconstruction. */
  let isUnderWay = false
  const begun = { isUnderWay: () => isUnderWay }
  const caches = [
    pods.addHandler(podHandler(begun, populator)),
    nodes.addHandler(nodeHandler(begun, reconciler)),
    volumes.addHandler(
      volumeHandler(begun, (key) => podsOf(key).forEach((pod) => populator.podSeen(pod))),
    ),
    attachments,
    informers.informer(resources.persistentvolumeclaims),
    informers.informer(resources.csidrivers),
  ]

  return {
    async run(signal) {
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true })
      const synced = await Promise.all(caches.map((cache) => cache.whenSynced(signal)))
      if (!synced.every((done) => done)) return
      const found = {
        nodes: nodes.lister.list(),
        attachments: attachments.lister.list(),
        volumeNamed: (name: string) => volumes.lister.get(undefined, name),
      }
      reconstruct(reconciler, found, populator)
      // Before the pods, which take many turns: what becomes of one meanwhile is seen by its event.
      isUnderWay = true
      await populate(context, populator, pods.lister)
      giveSpecsToAttached(reconciler)
      const loops = [reconciler.run(signal), claims.run(signal)]
      loops.push(keepDesired(context, populator, pods.lister, signal))
      if (!attachDetach.disableReconcileSync) {
        const verify = (): Promise<void> => reconciler.verify(populator)
        loops.push(every(context, attachDetach.reconcileSyncPeriodMs, signal, verify))
      }
      await Promise.all(loops)
    },
  }
}

async function every(
  { clock, logger }: Context,
  periodMs: number,
  signal: AbortSignal,
  round: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(clock, periodMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      await round()
    } catch (error) {
      if (!(error instanceof InterruptedByShutdown)) logger.error(error, 'A round failed')
    }
  }
}

/** Nothing may be detached before it has ended once. */
function populate(
  { clock }: Pick<Context, 'clock'>,
  populator: Pick<Populator, 'podSeen'>,
  pods: Lister<Pod>,
): Promise<void> {
  return inTurns(clock, pods.list(), ({ metadata }) => {
    // One that was listed may be gone since.
    const current = pods.get(metadata?.namespace, metadata?.name ?? '')
    if (current !== undefined) populator.podSeen(current)
  })
}

function keepDesired(
  context: Context,
  populator: Populator,
  pods: Lister<Pod>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = context
  let populatedMs = clock.monotonicMs()
  return every(context, POPULATOR_PERIOD_MS, signal, async () => {
    populator.removeStale()
    // 3.
    if (clock.monotonicMs() - populatedMs < FULL_POPULATION_PERIOD_MS) return
    await populate(context, populator, pods)
    populatedMs = clock.monotonicMs()
  })
}

function reconcilerOf(context: Context, signal: AbortSignal): Reconciler {
  const { informers, client, clock, trace, name, random, configuration, logger } = context
  const nodes = informers.informer(resources.nodes).lister
  const attachments = informers.informer(resources.volumeattachments).lister
  const recorder = context.recorder(EVENT_COMPONENT)
  const recordEvent = recorder.record.bind(recorder)
  const jitter = random.fork('poll')
  return new Reconciler({
    clock,
    logger,
    configuration: configuration.attachDetach,
    random: () => jitter.next(),
    nodeNamed: (nodeName) => nodes.get(undefined, nodeName),
    attachmentNamed: (attachmentName) => attachments.get(undefined, attachmentName),
    recordEvent,
    perform: (subject, rules) =>
      interpret(rules, {
        client,
        clock,
        signal,
        recordEvent,
        onEffect: trace && ((effect, outcome) => trace.effect(name, subject, effect, outcome)),
      }),
  })
}

function populatorOf({ informers }: Context, { desired }: Reconciler): Populator {
  const pods = informers.informer(resources.pods).lister
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const volumes = informers.informer(resources.persistentvolumes).lister
  const drivers = informers.informer(resources.csidrivers).lister
  return new Populator({
    desired,
    claimNamed: (namespace, name) => claims.get(namespace, name),
    volumeNamed: (name) => volumes.get(undefined, name),
    driverNamed: (name) => drivers.get(undefined, name),
    podNamed: (namespace, name) => pods.get(namespace, name),
  })
}

/** Pods that wait for their claims get their volumes when those are bound. */
function claimLogic(
  { informers }: Pick<Context, 'informers'>,
  podsOf: (claimKey: string) => readonly Pod[],
  populator: Pick<Populator, 'podSeen'>,
): KeyedController<PersistentVolumeClaim> {
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  return {
    queueName: CLAIM_QUEUE,
    workers: 1,
    watches: [claimWatch],
    observe: (key) => claims.getByKey(key),
    *reconcile({ metadata, spec, status }) {
      if (status?.phase !== 'Bound' || !spec?.volumeName) return
      for (const pod of podsOf(`${metadata?.namespace}/${metadata?.name}`)) populator.podSeen(pod)
    },
  }
}
