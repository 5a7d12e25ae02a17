/**
 * The ConfigMaps, Secrets and ClusterTrustBundles that pods refer to, and what is wrong with a reference. Contract:
 * docs/behaviour/simulation/kubelet.md, Life of a pod (volumes) and Container statuses.
 */
import { resources } from '@gyropilot/api'
import type { ClusterTrustBundleProjection, Container, Pod, Volume } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { projectedAnchors } from '../container/trust-bundles.ts'

/** As a kubelet that caches what its pods refer to: what is missing is always looked for, what was taken away may be missed so long. */
const KNOWN_FOR_MS = 60_000

type Kind = 'configmap' | 'secret'

interface Reference {
  readonly kind: Kind
  readonly name: string
  readonly optional: boolean
  /** All must be there. */
  readonly keys: readonly string[]
}

/** A reference that cannot be followed, in words. */
type Problem = { readonly object: string } | { readonly key: string } | undefined

export class PodReferences {
  readonly #client: Client
  readonly #clock: Clock
  readonly #known = new Map<
    string,
    { readonly keys: ReadonlySet<string>; readonly untilMs: number }
  >()

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Why a volume cannot be mounted; undefined: it can. Storage of other kinds is always there. */
  async volumeProblem(pod: Pod, volume: Volume): Promise<string | undefined> {
    const problems: string[] = []
    for (const reference of referencesOfVolume(volume)) {
      const problem = await this.#problem(pod, reference)
      if (problem === undefined) continue
      const what = reference.kind === 'configmap' ? 'config' : 'secret'
      problems.push(
        'object' in problem
          ? problem.object
          : `references non-existent ${what} key: ${problem.key}`,
      )
    }
    for (const { clusterTrustBundle } of volume.projected?.sources ?? []) {
      if (clusterTrustBundle === undefined) continue
      const problem = await this.#bundleProblem(clusterTrustBundle)
      if (problem !== undefined) problems.push(problem)
    }
    return problems.length < 2 ? problems[0] : `[${problems.join(', ')}]`
  }

  /** Why a container's environment cannot be made; undefined: it can. */
  async environmentProblem(pod: Pod, container: Container): Promise<string | undefined> {
    for (const reference of referencesOfEnvironment(container)) {
      const problem = await this.#problem(pod, reference)
      if (problem === undefined) continue
      if ('object' in problem) return problem.object
      const kind = reference.kind === 'configmap' ? 'ConfigMap' : 'Secret'
      const where = `${pod.metadata?.namespace}/${reference.name}`
      return `couldn't find key ${problem.key} in ${kind} ${where}`
    }
    return undefined
  }

  async #bundleProblem(source: ClusterTrustBundleProjection): Promise<string | undefined> {
    try {
      await projectedAnchors(this.#client, source)
      return undefined
    } catch (error) {
      return errorText(error)
    }
  }

  async #problem(pod: Pod, { kind, name, optional, keys }: Reference): Promise<Problem> {
    const wanted = optional ? [] : keys
    let present: ReadonlySet<string>
    try {
      present = await this.#keysOf(kind, pod.metadata?.namespace ?? '', name, wanted)
    } catch (error) {
      if (!isNotFound(error)) return { object: errorText(error) }
      return optional ? undefined : { object: `${kind} ${JSON.stringify(name)} not found` }
    }
    const missing = wanted.find((key) => !present.has(key))
    return missing === undefined ? undefined : { key: missing }
  }

  /** As known, if the wanted ones are among them. */
  async #keysOf(
    kind: Kind,
    namespace: string,
    name: string,
    wanted: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const id = `${kind} ${namespace}/${name}`
    const nowMs = this.#clock.monotonicMs()
    this.#forget(nowMs)
    const known = this.#known.get(id)
    if (known !== undefined && wanted.every((key) => known.keys.has(key))) return known.keys
    const keys =
      kind === 'configmap'
        ? await this.#keysOfConfigMap(namespace, name)
        : await this.#keysOfSecret(namespace, name)
    this.#known.delete(id)
    this.#known.set(id, { keys, untilMs: this.#clock.monotonicMs() + KNOWN_FOR_MS })
    return keys
  }

  /** In the order in which they were learnt, which is that of their ends. */
  #forget(nowMs: number): void {
    for (const [id, { untilMs }] of this.#known) {
      if (untilMs > nowMs) return
      this.#known.delete(id)
    }
  }

  async #keysOfConfigMap(namespace: string, name: string): Promise<ReadonlySet<string>> {
    const found = await this.#client.resource(resources.configmaps, namespace).get(name)
    return new Set([...Object.keys(found.data ?? {}), ...Object.keys(found.binaryData ?? {})])
  }

  async #keysOfSecret(namespace: string, name: string): Promise<ReadonlySet<string>> {
    const found = await this.#client.resource(resources.secrets, namespace).get(name)
    return new Set(Object.keys(found.data ?? {}))
  }
}

interface Source {
  readonly name?: string | undefined
  readonly optional?: boolean | undefined
  readonly items?: readonly { readonly key: string }[] | undefined
}

function reference(kind: Kind, { name = '', optional = false, items = [] }: Source): Reference {
  return { kind, name, optional, keys: items.map(({ key }) => key) }
}

function referencesOfVolume({ configMap, secret, projected }: Volume): readonly Reference[] {
  const references: Reference[] = []
  if (configMap) references.push(reference('configmap', configMap))
  if (secret) references.push(reference('secret', { ...secret, name: secret.secretName }))
  for (const source of projected?.sources ?? []) {
    if (source.configMap) references.push(reference('configmap', source.configMap))
    if (source.secret) references.push(reference('secret', source.secret))
  }
  return references
}

function referencesOfEnvironment({ env, envFrom }: Container): readonly Reference[] {
  const references: Reference[] = []
  for (const { configMapRef, secretRef } of envFrom ?? []) {
    if (configMapRef) references.push(reference('configmap', configMapRef))
    if (secretRef) references.push(reference('secret', secretRef))
  }
  for (const { valueFrom } of env ?? []) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {}
    if (configMapKeyRef)
      references.push(reference('configmap', { ...configMapKeyRef, items: [configMapKeyRef] }))
    if (secretKeyRef)
      references.push(reference('secret', { ...secretKeyRef, items: [secretKeyRef] }))
  }
  return references
}
