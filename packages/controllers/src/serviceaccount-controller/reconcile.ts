/**
 * One sync of a namespace. Step numbers are those of
 * docs/behaviour/controllers/serviceaccount-controller.md; 1 is the shell's.
 */
import { resources } from '@gyropilot/api'
import type { ServiceAccount } from '@gyropilot/api'
import { hasCause, isAlreadyExists } from '@gyropilot/client'
import { create, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import type { ObservedNamespace } from './observe.ts'

export function* reconcile({ namespace, missing }: ObservedNamespace): Reconcile {
  // 2. A namespace that is being emptied must not be filled again; one without a phase is not active yet.
  if (namespace.status?.phase !== 'Active') return
  // 3.
  const errors: unknown[] = []
  for (const name of missing) {
    const outcome = yield* write(
      create(resources.serviceaccounts, accountFor(namespace.metadata?.name, name)),
    )
    if (
      outcome.ok ||
      isAlreadyExists(outcome.error) ||
      hasCause(outcome.error, 'NamespaceTerminating')
    )
      continue
    errors.push(outcome.error)
  }
  // 4.
  if (errors.length > 0) return { error: aggregateErrors(errors) }
  return
}

function accountFor(namespace: string | undefined, name: string): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
}
