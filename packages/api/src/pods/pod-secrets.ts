import type { Pod, Volume } from '../generated/types.ts'

/** Names of all Secrets of its namespace that running this pod takes; one may be in it more than once. */
export function secretNamesOf({ spec }: Pick<Pod, 'spec'>): readonly string[] {
  const names: (string | undefined)[] = (spec?.imagePullSecrets ?? []).map(({ name }) => name)
  const { containers, initContainers, ephemeralContainers } = spec ?? {}
  // A list that is empty is null where nobody has validated it yet.
  const all = [initContainers, containers, ephemeralContainers].flatMap((list) => list ?? [])
  for (const { env, envFrom } of all) {
    for (const { secretRef } of envFrom ?? []) names.push(secretRef?.name)
    for (const { valueFrom } of env ?? []) names.push(valueFrom?.secretKeyRef?.name)
  }
  for (const volume of spec?.volumes ?? []) {
    names.push(...secretNamesOfSource(volume))
    for (const source of volume.projected?.sources ?? []) names.push(source.secret?.name)
  }
  return names.filter((name) => name !== undefined && name !== '') as string[]
}

function secretNamesOfSource(volume: Volume): readonly (string | undefined)[] {
  const { secret, azureFile, cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos, csi } =
    volume
  return [
    secret?.secretName,
    azureFile?.secretName,
    cephfs?.secretRef?.name,
    cinder?.secretRef?.name,
    flexVolume?.secretRef?.name,
    iscsi?.secretRef?.name,
    rbd?.secretRef?.name,
    scaleIO?.secretRef?.name,
    storageos?.secretRef?.name,
    csi?.nodePublishSecretRef?.name,
  ]
}
