/**
 * storageversion-garbage-collector-controller: forgets the API servers that are gone.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { collectEntries, collectServer } from './collect-entries.ts'
import {
  COLLECTOR_IDENTITY,
  IDENTITY_GATE,
  LEASE_QUEUE,
  STORAGE_VERSION_GATE,
  STORAGE_VERSION_QUEUE,
} from './config.ts'
import { leaseWatch, storageVersionWatch } from './storage-version-watches.ts'

export const storageVersionGarbageCollectorController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'storageversion-garbage-collector-controller',
    aliases: ['storage-version-gc'],
    enabledByDefault: true,
    featureGates: [IDENTITY_GATE, STORAGE_VERSION_GATE],
    serviceAccount: COLLECTOR_IDENTITY,
    build(context) {
      const { configuration } = context
      // An alpha gate: who says nothing has it off, and no informer may ask for what is not served.
      if (configuration.featureGates[STORAGE_VERSION_GATE] !== true) return undefined
      if (!featureEnabled(configuration, IDENTITY_GATE)) return undefined
      const parts = storageVersionLogics(context).map((logic) => runKeyedController(logic, context))
      return {
        async run(signal) {
          await Promise.all(parts.map((part) => part.run(signal)))
        },
      }
    },
  }

/** Of Leases that went, and of StorageVersions. */
export function storageVersionLogics({
  informers,
}: Pick<ControllerContext, 'informers'>): readonly [
  KeyedController<string>,
  KeyedController<string>,
] {
  const leases = informers.informer(resources.leases)
  return [
    {
      queueName: LEASE_QUEUE,
      workers: 1,
      watches: [leaseWatch],
      // Neither key needs a cache: what counts is read live.
      observe: (leaseName) => leaseName,
      reconcile: collectServer,
    },
    {
      queueName: STORAGE_VERSION_QUEUE,
      workers: 1,
      watches: [storageVersionWatch(leases.lister)],
      alsoAwait: [leases],
      observe: (name) => name,
      reconcile: collectEntries,
    },
  ]
}
