/** Gives each pod its service account: the name, the image pull secrets, the projected token. */
import { randomSuffix, secretNamesOf } from '@gyropilot/api'
import { integerBetween, sleep } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { goQuote } from '@gyropilot/schema/go-quote'
import { addressProblem } from '@gyropilot/schema/validation/names'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import { unclassified } from '../../http/errors.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { isFor, read, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

const DEFAULT_ACCOUNT = 'default'
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'
const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets'
/** As Go reads a boolean. */
const TRUE = /^(1|t|T|true|TRUE|True)$/
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
/** The controller manager creates `default` a moment after its namespace. */
const DEFAULT_ACCOUNT_ATTEMPTS = 10
const ATTEMPT_PAUSE_MS = 100

export function serviceAccount(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    handles: (request) =>
      (isFor(request, '', 'pods') && request.operation === 'CREATE') ||
      (isFor(request, '', 'pods', 'ephemeralcontainers') && request.operation === 'UPDATE'),
    async mutate(request) {
      if (request.operation !== 'CREATE') return
      // A mirror pod has no account: what it may have is judged first.
      if (isMirror(request.object!)) {
        checkMirror(request, request.object!)
        return
      }
      const { spec } = request.object!
      if (!spec.serviceAccountName) spec.serviceAccountName = DEFAULT_ACCOUNT
      // The deprecated twin of the field.
      spec.serviceAccount = spec.serviceAccountName
      const account = await findAccount(world, request)
      if (wantsToken(spec, account)) mountToken(spec, world.random)
      if (
        (spec.imagePullSecrets ?? []).length === 0 &&
        (account['imagePullSecrets'] ?? []).length > 0
      ) {
        spec.imagePullSecrets = structuredClone(account['imagePullSecrets'])
      }
    },
    async validate(request) {
      const pod = request.object!
      const isCreation = request.operation === 'CREATE'
      if (isCreation && isMirror(pod)) {
        checkMirror(request, pod)
        return
      }
      const account = await findAccount(world, request)
      if (!TRUE.test(account['metadata'].annotations?.[ENFORCE_ANNOTATION] ?? '')) return
      if (isCreation) checkSecrets(request, pod, account)
      else checkEphemeralContainers(pod, account)
    },
  }
}

function isMirror(pod: Stored): boolean {
  return pod['metadata'].annotations?.[MIRROR_ANNOTATION] !== undefined
}

function checkMirror(request: AdmissionRequest, pod: Stored): void {
  if (pod['spec'].serviceAccountName)
    throw refusal(request, 'a mirror pod may not reference service accounts')
  if (secretNamesOf(pod).length > 0)
    throw refusal(request, 'a mirror pod may not reference secrets')
  for (const volume of pod['spec'].volumes ?? []) {
    for (const source of volume.projected?.sources ?? []) {
      if (source.serviceAccountToken !== undefined) {
        throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections')
      }
    }
  }
}

async function findAccount(world: AdmissionWorld, request: AdmissionRequest): Promise<Stored> {
  const name: string = request.object!['spec'].serviceAccountName ?? ''
  const attempts = name === DEFAULT_ACCOUNT ? DEFAULT_ACCOUNT_ATTEMPTS : 1
  for (let attempt = 1; ; attempt++) {
    const account = read(world, 'serviceaccounts', `${request.namespace}/${name}`)
    if (account !== undefined) return account
    if (attempt >= attempts) {
      const why = addressProblem(name) ?? `serviceaccount ${JSON.stringify(name)} not found`
      const place = `${request.namespace}/${name}`
      throw refusal(request, `error looking up service account ${place}: ${why}`)
    }
    await sleep(world.clock, ATTEMPT_PAUSE_MS + integerBetween(world.random, 0, ATTEMPT_PAUSE_MS))
  }
}

function wantsToken(spec: Draft, account: Stored): boolean {
  return spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true
}

function mountToken(spec: Draft, random: RandomSource): void {
  const existing = (spec['volumes'] ?? []).find((volume: Draft) =>
    String(volume['name']).startsWith(VOLUME_PREFIX),
  )
  const name = existing?.name ?? `${VOLUME_PREFIX}${randomSuffix(random)}`
  let isMounted = false
  for (const container of [...(spec['initContainers'] ?? []), ...(spec['containers'] ?? [])]) {
    if ((container.volumeMounts ?? []).some((mount: Draft) => mount['mountPath'] === TOKEN_PATH))
      continue
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name, readOnly: true, mountPath: TOKEN_PATH },
    ]
    isMounted = true
  }
  if (isMounted && existing === undefined)
    spec['volumes'] = [...(spec['volumes'] ?? []), tokenVolume(name)]
}

function tokenVolume(name: string): Draft {
  const namespaceField = {
    path: 'namespace',
    fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
  }
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespaceField] } },
      ],
      defaultMode: 420,
    },
  }
}

/**
 * The deprecated annotation: only secrets that the account lists may be used. Of volumes those of type secret alone are looked at, as
 * upstream does it: projected ones and those of drivers are free.
 */
function checkSecrets(request: AdmissionRequest, { spec }: Stored, account: Stored): void {
  const mountable = namesOf(account['secrets'])
  const accountName = account['metadata'].name
  const problem =
    problemOfVolumes(spec.volumes, mountable) ??
    problemOfContainers('init container', spec.initContainers, mountable) ??
    problemOfContainers('container', spec.containers, mountable)
  if (problem !== undefined) throw refusal(request, notReferenced(problem, accountName))
  const pullable = namesOf(account['imagePullSecrets'])
  for (const [index, { name }] of ((spec.imagePullSecrets ?? []) as Stored[]).entries()) {
    if (pullable.has(name)) continue
    const used = `imagePullSecrets[${index}].name=${goQuote(name)}`
    const why = `is not allowed because service account ${accountName} does not reference that imagePullSecret`
    throw refusal(request, `${used} ${why}`)
  }
}

/** What the pod has already was judged when it was made. An error of the server, as upstream has it. */
function checkEphemeralContainers({ spec }: Stored, account: Stored): void {
  const mountable = namesOf(account['secrets'])
  const problem = problemOfContainers('ephemeral container', spec.ephemeralContainers, mountable)
  if (problem !== undefined) throw unclassified(notReferenced(problem, account['metadata'].name))
}

function notReferenced(use: string, account: string): string {
  return `${use} is not allowed because service account ${account} does not reference that secret`
}

function namesOf(references: readonly Stored[] = []): ReadonlySet<unknown> {
  return new Set(references.map(({ name }) => name))
}

function problemOfVolumes(
  volumes: readonly Stored[] = [],
  mountable: ReadonlySet<unknown>,
): string | undefined {
  for (const { secret } of volumes) {
    if (secret !== undefined && !mountable.has(secret.secretName))
      return `volume with secret.secretName=${goQuote(secret.secretName)}`
  }
  return undefined
}

function problemOfContainers(
  what: string,
  containers: readonly Stored[] = [],
  mountable: ReadonlySet<unknown>,
): string | undefined {
  for (const { name: container, env = [], envFrom = [] } of containers) {
    for (const { name, valueFrom } of env as Stored[]) {
      const secret: string | undefined = valueFrom?.secretKeyRef?.name
      if (secret !== undefined && !mountable.has(secret))
        return `${what} ${container} with envVar ${name} referencing secret.secretName=${goQuote(secret)}`
    }
    for (const { secretRef } of envFrom as Stored[]) {
      if (secretRef !== undefined && !mountable.has(secretRef.name))
        return `${what} ${container} with envFrom referencing secret.secretName=${goQuote(secretRef.name)}`
    }
  }
  return undefined
}
