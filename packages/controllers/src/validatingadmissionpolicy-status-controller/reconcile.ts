/**
 * One sync of a policy. Step numbers are those of
 * docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { JSONSchemaProps, ParamKind, ValidatingAdmissionPolicy } from '@gyropilot/api'
import { apply, currentTimeMs, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { FIELD_MANAGER } from './config.ts'
import { typeChecker } from './load.ts'
import { matchedKinds } from './matched-kinds.ts'
import type { Kind } from './matched-kinds.ts'
import { servedSchema } from './served-schema.ts'
import type { ReadDocuments } from './served-schema.ts'
import type { KindWithSchema } from './type-check.ts'

export function* reconcile(policy: ValidatingAdmissionPolicy): Reconcile {
  const generation = policy.metadata?.generation ?? 0
  // 2.
  if (generation <= (policy.status?.observedGeneration ?? 0)) return
  // 3.
  const matched = yield* matchedKinds(policy.spec?.matchConstraints?.resourceRules ?? [])
  if ('error' in matched) return { error: matched.error }
  const documents: ReadDocuments = new Map()
  const objects: KindWithSchema[] = []
  for (const kind of matched.kinds) {
    const schema = yield* schemaOf(kind, documents)
    if (schema !== undefined) objects.push({ ...kind, schema })
  }
  const paramKind = objects.length === 0 ? undefined : policy.spec?.paramKind
  const params = paramKind && (yield* paramsOf(paramKind, documents))
  const expressionWarnings = typeChecker().typeWarnings({
    policy,
    objects,
    params,
    firstSuffix: nanosecondsOf(yield* currentTimeMs()),
  })
  // 4. Conditions are of others: what is not applied stays.
  const outcome = yield* write(
    apply<ValidatingAdmissionPolicy>(
      resources.validatingadmissionpolicies,
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: policy.metadata?.name },
        status: {
          observedGeneration: generation,
          typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
        },
      },
      FIELD_MANAGER,
      'status',
    ),
  )
  return outcome.ok ? undefined : { error: outcome.error }
}

/** What is built in does not need the server. */
function* schemaOf(kind: Kind, documents: ReadDocuments): Reconcile<JSONSchemaProps | undefined> {
  return typeChecker().builtInSchema(kind) ?? (yield* servedSchema(kind, documents))
}

function* paramsOf(
  { apiVersion = '', kind = '' }: ParamKind,
  documents: ReadDocuments,
): Reconcile<KindWithSchema | undefined> {
  const slash = apiVersion.indexOf('/')
  const of = {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind,
  }
  const schema = yield* schemaOf(of, documents)
  return schema && { ...of, schema }
}

/** Within the second: upstream sets types apart by that. */
function nanosecondsOf(nowMs: number): number {
  return Math.floor((nowMs % 1000) * 1_000_000)
}
