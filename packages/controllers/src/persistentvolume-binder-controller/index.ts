/**
 * persistentvolume-binder-controller: claims get their volumes, and volumes whose claim is gone are reclaimed.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { uuid } from '@gyropilot/foundation'
import { KeyedBackoff, runKeyedController, runPeriodicController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  PeriodicController,
  Reconcile,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodClaimIndex, podsUsing } from '../volume-support/pod-claims.ts'
import type { BegunRecycler, Binder } from './binder.ts'
import {
  CLAIM_QUEUE,
  EVENT_COMPONENT,
  MAX_OPERATION_RETRY_MS,
  MIN_OPERATION_RETRY_MS,
  SERVICE_ACCOUNT,
  VOLUME_QUEUE,
  WORKERS,
} from './config.ts'
import { ACCESS_MODE_INDEX, accessModeGroup } from './claims/match-volume.ts'
import { folderCalls } from './host-path/host-path.ts'
import { binderMetrics } from './metrics.ts'
import { operationTimes } from './operation-times.ts'
import { OwnCache } from './own-cache.ts'
import { reconcileClaim } from './claims/reconcile-claim.ts'
import { reconcileVolume } from './volumes/reconcile-volume.ts'
import { claimWatches, volumeWatches } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const persistentVolumeBinderController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'persistentvolume-binder-controller',
  aliases: ['persistentvolume-binder'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: buildBinder,
}

/** Two queues over one own cache, and a timer that fills both: what waits for others' objects is looked at again. */
function buildBinder(context: Context): RunnableController {
  const binder = binderOf(context, (key) => claims.enqueue(key))
  const { informers, configuration } = context
  const claims = runKeyedController(claimLogic(context, binder), context)
  const volumes = runKeyedController(volumeLogic(binder), context)
  const claimInformer = informers.informer(resources.persistentvolumeclaims)
  const volumeInformer = informers.informer(resources.persistentvolumes)
  const resync: PeriodicController = {
    periodMs: configuration.persistentVolumeBinder.syncPeriodMs,
    caches: [claimInformer, volumeInformer],
    *round() {
      for (const claim of claimInformer.lister.list()) claims.enqueue(keyOf(claim))
      for (const volume of volumeInformer.lister.list()) volumes.enqueue(keyOf(volume))
    },
  }
  const timer = runPeriodicController(resync, context)
  return {
    async run(signal) {
      await Promise.all([claims.run(signal), volumes.run(signal), timer.run(signal)])
    },
  }
}

export function binderOf(
  {
    informers,
    configuration,
    metrics,
    clock,
    random,
  }: Pick<Context, 'informers' | 'configuration' | 'metrics' | 'clock' | 'random'>,
  enqueueClaim: (key: string) => void,
): Binder {
  const volumes = informers.informer(resources.persistentvolumes)
  const claims = informers.informer(resources.persistentvolumeclaims)
  const classes = informers.informer(resources.storageclasses).lister
  const pods = informers.informer(resources.pods)
  volumes.addIndex(ACCESS_MODE_INDEX, accessModeGroup)
  addPodClaimIndex(pods)
  const backoff = new KeyedBackoff(clock, MIN_OPERATION_RETRY_MS, MAX_OPERATION_RETRY_MS)
  const settings = configuration.persistentVolumeBinder
  // Of use for volumes on the manager's own machine only.
  const nodes = settings.enableHostPathProvisioner
    ? informers.informer(resources.nodes).lister
    : undefined
  const counts = binderMetrics(
    metrics,
    () => volumes.lister.list(),
    () => claims.lister.list(),
  )
  const told = new Map<string, Set<string>>()
  const recyclers = new Map<string, BegunRecycler>()
  const lostRecyclers = new Set<string>()
  return {
    volumes: new OwnCache(volumes.lister),
    claims: new OwnCache(claims.lister),
    classNamed: (name) => classes.get(undefined, name),
    classes: () => classes.list(),
    podsUsing: ({ namespace, name }) => podsUsing(pods.lister, `${namespace}/${name}`),
    podNamed: (namespace, name) => pods.lister.get(namespace, name),
    enqueueClaim,
    nodeNamed: (name) => nodes?.get(undefined, name),
    newId: () => uuid(random),
    settings,
    metrics: counts,
    times: operationTimes(() => clock.monotonicMs(), counts.operationTook),
    begun: new Map(),
    toldAtOwnVersion: new Map(),
    isNews(volume, event) {
      const name = volume.metadata?.name ?? ''
      const own = told.get(name) ?? new Set()
      const id = `${event.metadata?.uid} ${event.count ?? 1}`
      const isNew = !own.has(id)
      told.set(name, own.add(id))
      return isNew
    },
    recyclers,
    lostRecyclers,
    forgetVolume(name) {
      told.delete(name)
      recyclers.delete(name)
      lostRecyclers.delete(name)
    },
    operations: {
      isInBackoff: (id) => backoff.isInBackoff(id),
      failed: (id) => backoff.next(id),
    },
  }
}

export function claimLogic(
  { informers }: Pick<Context, 'informers'>,
  binder: Binder,
): KeyedController<PersistentVolumeClaim> {
  return {
    queueName: CLAIM_QUEUE,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    watches: claimWatches,
    observe: (key) => binder.claims.current(key),
    reconcile: (claim) => quietOnConflict(reconcileClaim(binder, claim)),
    forget(key) {
      if (!binder.claims.forget(key)) return
      binder.times.dropped(key, 'provision')
      binder.begun.delete(key)
      binder.toldAtOwnVersion.delete(key)
    },
    outside: folderCalls(binder.settings.hostFolders),
    // Without its class or its pods a claim would be told the wrong thing.
    alsoAwait: [
      informers.informer(resources.persistentvolumes),
      informers.informer(resources.storageclasses),
      informers.informer(resources.pods),
    ],
  }
}

/** Claims and volumes have other writers at the same moments: that one of them was first is the usual course, and not told by upstream. */
function* quietOnConflict(sync: Reconcile): Reconcile {
  const verdict = yield* sync
  return isConflict(verdict?.error) ? { ...verdict, expected: true } : verdict
}

export function volumeLogic(binder: Binder): KeyedController<PersistentVolume> {
  return {
    queueName: VOLUME_QUEUE,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    watches: volumeWatches(binder),
    observe: (key) => binder.volumes.current(key),
    reconcile: (volume) => quietOnConflict(reconcileVolume(binder, volume)),
    forget(key) {
      if (!binder.volumes.forget(key)) return
      binder.forgetVolume(key)
      binder.times.ended(key, 'delete')
    },
    outside: folderCalls(binder.settings.hostFolders),
  }
}
