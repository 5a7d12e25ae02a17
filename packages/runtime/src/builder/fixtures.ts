import type { ConfigMap, KubernetesObject, OwnerReference } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { ControllerManager } from '../controller-manager/controller-manager.ts'
import type { ControllerManagerOptions } from '../controller-manager/controller-manager.ts'
import { defineResource } from '../custom-resources/define-resource.ts'
import type { CustomResource } from '../custom-resources/define-resource.ts'
import { FakeServer, RecordingMetrics, testClock } from '../testing/index.ts'
import type { ReconcileContext, Reconciler } from './reconciler.ts'
import { keyOfRequest } from './request.ts'
import type { Request } from './request.ts'

export type Website = CustomResource<{ readonly html: string }, { readonly ready: boolean }>

export const websites = defineResource<Website>({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
})

/** Cluster-scoped. */
export const domains = defineResource<KubernetesObject>({
  group: 'example.com',
  version: 'v1',
  kind: 'Domain',
  namespaced: false,
})

export function website(name: string, metadata: KubernetesObject['metadata'] = {}): Website {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { html: '' },
  }
}

export function configMap(name: string, ...ownerReferences: readonly OwnerReference[]): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, ownerReferences },
  }
}

export function reference(name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'example.com/v1', kind: 'Website', name, uid: `uid-of-${name}`, ...more }
}

/** A manager over a fake server, on virtual time. */
export function managing(options: Partial<ControllerManagerOptions> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const metrics = new RecordingMetrics()
  const manager = new ControllerManager({
    client: server,
    clock,
    random: new SeededRandom('manager'),
    logger,
    metrics,
    ...options,
  })
  const stop = new AbortController()
  let running: Promise<void> | undefined
  return {
    server,
    clock,
    logger,
    metrics,
    manager,
    /** Starts it and lets it come to rest. */
    async start(): Promise<void> {
      running = manager.start(stop.signal)
      running.catch(() => {})
      await clock.advance(0)
    },
    async stop(): Promise<void> {
      stop.abort()
      await clock.advance(0)
      await running
    },
    ended: () => running,
    abort: () => stop.abort(),
  }
}

/** A reconciler that keeps the keys it was given and answers what it is told. */
export function recording(
  answer: (key: string, context: ReconcileContext) => ReturnType<Reconciler> = () => undefined,
) {
  const keys: string[] = []
  const reconcile: Reconciler = (request: Request, context: ReconcileContext) => {
    const key = keyOfRequest(request)
    keys.push(key)
    return answer(key, context)
  }
  return { keys, reconcile, taken: (): string[] => keys.splice(0) }
}
