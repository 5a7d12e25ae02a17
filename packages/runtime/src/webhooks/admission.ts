/** Contract: docs/behaviour/runtime/custom-controllers.md, Webhooks. */
import type { KubernetesObject, Status } from '@gyropilot/api'
import { createJsonPatch } from '@gyropilot/api'
import { statusErrorIn } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { isPanic } from '../builder/reconciler.ts'
import type { Webhook } from './webhooks.ts'

/** What the API server asks about. The objects are the caller's own. */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly namespace?: string
  /** Empty for an object that gets its name from the server. */
  readonly name?: string
  /** Of creations and updates; absent for a deletion. */
  readonly object?: T
  /** Of updates and deletions; absent for a creation. */
  readonly oldObject?: T
  readonly userInfo: { readonly username?: string; readonly groups?: readonly string[] }
  /** Nothing will be stored: side effects are out of place. */
  readonly dryRun?: boolean
  readonly options?: KubernetesObject
  /** Shown to whoever made the request, whatever becomes of it. */
  warn(text: string): void
}

/**
 * What it returns takes the place of the object; nothing: it stays as it is. What it throws refuses the request: a StatusError with
 * its Status, anything else with 403 and its text.
 */
export type Admit<T extends KubernetesObject> = (
  request: AdmissionRequest<T>,
) => T | void | Promise<T | void>

/** Validates, mutates, or both. Of a validating webhook the server does not take an object. */
export function admissionWebhook<T extends KubernetesObject>(admit: Admit<T>): Webhook {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    async respond(request) {
      const warnings: string[] = []
      const asked = { ...withoutNulls(request), warn: (text: string) => void warnings.push(text) }
      const answer = await verdict(asked as unknown as AdmissionRequest<T>, admit)
      return { ...answer, ...(warnings.length > 0 && { warnings }) }
    },
  }
}

/** API servers write what a request does not have as null: the object of a deletion, the old one of a creation. */
function withoutNulls(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null))
}

async function verdict<T extends KubernetesObject>(
  request: AdmissionRequest<T>,
  admit: Admit<T>,
): Promise<object> {
  // Whoever edits the object in its place returns what was asked about: the difference is that to a copy.
  const sent = structuredClone(request.object)
  try {
    const object = await admit(request)
    // Who writes plain JavaScript may well answer null for nothing.
    if (!object || sent === undefined) return { allowed: true }
    const patch = createJsonPatch(sent, object)
    if (patch.length === 0) return { allowed: true }
    return {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(stringifyExact(patch)).toString('base64'),
    }
  } catch (error) {
    return { allowed: false, status: refusalOf(error) }
  }
}

function refusalOf(error: unknown): Partial<Status> {
  const status = statusErrorIn(error)?.status
  if (status !== undefined) return status
  if (isPanic(error)) return { code: 500, message: `panic: ${errorText(error)} [recovered]` }
  return { code: 403, reason: 'Forbidden', message: errorText(error) }
}
