/** Which files of a folder are manifests. Pure. */
import { documentsOf, isUnreadable } from './source/documents.ts'
import type { DocumentOrProblem, UnreadableDocument } from './source/documents.ts'
import type { SourceFile } from './source/source-file.ts'

export const KUSTOMIZATIONS: readonly string[] = [
  'kustomization.yaml',
  'kustomization.yml',
  'Kustomization',
]
const OF_CHARTS: readonly string[] = [
  'Chart.yaml',
  'Chart.lock',
  'values.yaml',
  'values.schema.json',
]

export function isManifestName(name: string): boolean {
  return /\.(?:ya?ml|json)$/.test(name) && otherPurpose(name) === undefined
}

/** What a file of this name is, when it is no manifest: patterns such as `k8s/*.yaml` name it with the others. */
export function otherPurpose(name: string): string | undefined {
  if (KUSTOMIZATIONS.includes(name))
    return 'not checked, as it is a kustomization: kubectl kustomize DIR | gyro check -'
  if (OF_CHARTS.includes(name))
    return 'not checked, as it is a part of a Helm chart: helm template DIR | gyro check -'
  return undefined
}

/** Files below the folder of a kustomization that it takes whole: all others are patches, values and the like. */
export function kustomizedFiles(kustomization: SourceFile): readonly string[] | UnreadableDocument {
  const [document] = documentsOf(kustomization)
  if (document === undefined) return []
  if (isUnreadable(document)) return document
  const { resources, crds } = (document.root?.value ?? {}) as Record<string, unknown>
  return [resources, crds]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .filter((path) => typeof path === 'string')
}

/** A file or folder of this machine, and no address of another: `https://...`, `git@...:team/base`, `github.com/team/base?ref=v1`. */
export function isLocal(path: string): boolean {
  if (/[:?]/.test(path)) return false
  return path.startsWith('.') || !path.includes('/') || /\.(?:ya?ml|json)$/.test(path)
}

/** Found in a folder, and nothing in it is meant for Kubernetes: a pipeline, a compose file, values. */
export function isForSomethingElse(documents: readonly DocumentOrProblem[]): boolean {
  return documents.every((document) =>
    isUnreadable(document)
      ? !looksLikeManifest(document.file.text)
      : !document.root?.members?.has('kind') && !document.root?.members?.has('apiVersion'),
  )
}

/** JSON with comments and templates of other programs cannot be read and are none; a manifest has its kind where its lines begin. */
function looksLikeManifest(text: string): boolean {
  const [, margin = ''] = /^( *)(?!---|[#\s])/m.exec(text) ?? []
  return new RegExp(`^${margin}(?:kind|apiVersion):|["'](?:kind|apiVersion)["']\\s*:`, 'm').test(
    text,
  )
}
