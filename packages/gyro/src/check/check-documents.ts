/** From documents to a verdict on every object of the input. */
import type { Status } from '@gyropilot/api'
import type { CheckOptions } from './check-options.ts'
import type { CheckingServer } from './checking-server.ts'
import { nameText } from './findings.ts'
import type { Finding, ObjectName, Verdict } from './findings.ts'
import { judge } from './judge.ts'
import { findingAt, isManifest, manifestsOf, objectNameOf } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import { missingKindText } from './missing-kind.ts'
import { isUnreadable } from './source/documents.ts'
import type { DocumentOrProblem } from './source/documents.ts'
import { setUp, standInsForPod } from './surroundings.ts'
import type { Surroundings } from './surroundings.ts'

export interface CheckedObject extends ObjectName {
  readonly file: string
  readonly line: number
  readonly verdict: Verdict
  /** What the server answers, when it refuses. */
  readonly status?: Status
}

export interface Checked {
  readonly objects: readonly CheckedObject[]
  readonly findings: readonly Finding[]
}

type DocumentOptions = Pick<CheckOptions, 'namespace' | 'ignoreMissingKinds'>

export async function checkDocuments(
  server: CheckingServer,
  documents: readonly DocumentOrProblem[],
  options: DocumentOptions,
): Promise<Checked> {
  const findings: Finding[] = []
  const manifests: Manifest[] = []
  for (const document of documents) {
    if (isUnreadable(document)) {
      const { file, start, problem: message, origin } = document
      const template = origin === undefined ? {} : { template: origin }
      const place = file.positionOf(start)
      findings.push({ severity: 'error', file: file.name, ...place, message, ...template })
      continue
    }
    for (const entry of manifestsOf(document)) {
      if (isManifest(entry)) manifests.push(entry)
      else findings.push(findingAt(entry, { severity: 'error', message: entry.problem }))
    }
  }
  const surroundings = await setUp(server, manifests, options.namespace)
  findings.push(...surroundings.findings)
  const desk = new Desk(server, surroundings, options)
  const objects: CheckedObject[] = []
  for (const manifest of manifests) {
    const { object, found } = await desk.look(manifest)
    objects.push(object)
    findings.push(...found)
  }
  return { objects, findings }
}

interface Look {
  readonly object: CheckedObject
  readonly found: readonly Finding[]
}

class Desk {
  readonly #server: CheckingServer
  readonly #surroundings: Surroundings
  readonly #options: DocumentOptions
  /** Where each object was first. */
  readonly #seen = new Map<string, string>()

  constructor(server: CheckingServer, surroundings: Surroundings, options: DocumentOptions) {
    this.#server = server
    this.#surroundings = surroundings
    this.#options = options
  }

  async look(manifest: Manifest): Promise<Look> {
    const { group, version, kind, node, document } = manifest
    const { file } = document
    const info = this.#server.resourceOf(group, version, kind)
    const namespace = manifest.namespace || this.#options.namespace
    const isNamespaced = info === undefined ? manifest.namespace !== '' : info.namespaced
    const name = objectNameOf(manifest, isNamespaced ? namespace : undefined)
    const place = { ...name, file: file.name, line: file.positionOf(node.start).line }
    if (info === undefined) return this.#unknownKind(manifest, name, place)
    if (group === '' && kind === 'Pod')
      await standInsForPod(this.#server, manifest.object, namespace)
    const { refusal, findings } = await judge(this.#server, info, manifest, namespace, name)
    const found = [...findings, ...this.#repeated(manifest, name)]
    const isRefused = found.some(({ severity }) => severity === 'error')
    const verdict: Verdict = isRefused ? 'refused' : 'accepted'
    const status = refusal === undefined ? {} : { status: refusal }
    return { object: { ...place, verdict, ...status }, found }
  }

  #unknownKind(manifest: Manifest, name: ObjectName, place: Omit<CheckedObject, 'verdict'>): Look {
    const broken = this.#surroundings.brokenDefinitions.get(`${manifest.group}/${manifest.kind}`)
    const notice = (message: string): Look => ({
      object: { ...place, verdict: 'not checked' },
      found: [findingAt(manifest, { severity: 'notice', message, object: name })],
    })
    if (broken !== undefined) {
      const { file } = broken.document
      const where = `${file.name}:${file.positionOf(broken.node.start).line}`
      return notice(`not checked: its CustomResourceDefinition at ${where} is refused`)
    }
    const message = missingKindText(manifest, this.#server.served())
    if (this.#options.ignoreMissingKinds) return notice(`not checked: ${message}`)
    const content = { severity: 'error', message, reason: 'NoMatch', object: name } as const
    const found = [findingAt(manifest, { ...content, field: 'kind' })]
    return { object: { ...place, verdict: 'refused' }, found }
  }

  /** The server takes them one after the other; a person meant one of them, or another name. */
  #repeated(manifest: Manifest, object: ObjectName): Finding[] {
    const { document, node, group, name } = manifest
    if (name === '' || (manifest.object['metadata'] as { name?: unknown } | null)?.name !== name)
      return []
    const key = [group, object.kind, object.namespace ?? '', name].join('/')
    const { file } = document
    const first = this.#seen.get(key)
    if (first === undefined) {
      this.#seen.set(key, `${file.name}:${file.positionOf(node.start).line}`)
      return []
    }
    const message = `${nameText(object)} is given twice: the first time at ${first}`
    const content = { severity: 'warning', message, object, reason: 'Repeated' } as const
    return [findingAt(manifest, { ...content, field: 'metadata.name' })]
  }
}
