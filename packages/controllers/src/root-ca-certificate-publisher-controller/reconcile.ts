/**
 * One sync of a namespace. Step numbers are those of
 * docs/behaviour/controllers/root-ca-certificate-publisher-controller.md.
 */
import { resources } from '@gyropilot/api'
import { hasCause, isNotFound } from '@gyropilot/client'
import { create, update, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { corrected, isUpToDate, newConfigMap } from './config-map.ts'
import type { ObservedBundle } from './observe.ts'

/** Steps 1 and 3 are the observation's. */
export function* reconcile(
  { namespace, configMap }: ObservedBundle,
  caBundle: string,
): Reconcile<Verdict> {
  // 2. AlreadyExists is retried until the cache shows the object, which may hold something else.
  if (configMap === undefined) {
    const outcome = yield* write(create(resources.configmaps, newConfigMap(namespace, caBundle)))
    if (outcome.ok || isNotFound(outcome.error) || hasCause(outcome.error, 'NamespaceTerminating'))
      return {}
    return { error: outcome.error }
  }
  // 4.
  if (isUpToDate(configMap, caBundle)) return {}
  // 5.
  const outcome = yield* write(update(resources.configmaps, corrected(configMap, caBundle)))
  return outcome.ok ? {} : { error: outcome.error }
}
