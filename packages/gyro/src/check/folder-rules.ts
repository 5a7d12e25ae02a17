/** Which files of a folder are manifests. Pure. */
import { documentsOf, isUnreadable } from './source/documents.ts'
import type { DocumentOrProblem } from './source/documents.ts'
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
export function kustomizedFiles(kustomization: SourceFile): readonly string[] {
  const [document] = documentsOf(kustomization)
  if (document === undefined || isUnreadable(document)) return []
  const { resources, crds } = (document.root?.value ?? {}) as Record<string, unknown>
  return [resources, crds]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .filter((path) => typeof path === 'string')
    .map((path) => path.replace(/^(?:\.\/)+/, ''))
}

/** Found in a folder, and nothing in it is meant for Kubernetes: a pipeline, a compose file, values. */
export function isForSomethingElse(documents: readonly DocumentOrProblem[]): boolean {
  return documents.every(
    (document) =>
      !isUnreadable(document) &&
      !document.root?.members?.has('kind') &&
      !document.root?.members?.has('apiVersion'),
  )
}
