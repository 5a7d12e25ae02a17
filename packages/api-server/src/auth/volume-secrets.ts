/** Which Secrets a kubelet takes to mount a PersistentVolume. Those that only controllers publish and expand with are not among them. */
import type { PersistentVolume } from '@gyropilot/api'

interface SecretName {
  readonly namespace?: string
  readonly name?: string
}

/** Without a namespace of its own a secret is one of the claim's. */
export function takesSecret({ spec }: PersistentVolume, namespace: string, name: string): boolean {
  return secretsOf(spec ?? {}).some(
    (secret) =>
      secret?.name === name && (secret.namespace || spec?.claimRef?.namespace) === namespace,
  )
}

function secretsOf(
  spec: NonNullable<PersistentVolume['spec']>,
): readonly (SecretName | undefined)[] {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec
  return [
    azureFile && { namespace: azureFile.secretNamespace ?? '', name: azureFile.secretName },
    cephfs?.secretRef,
    cinder?.secretRef,
    csi?.nodeStageSecretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeExpandSecretRef,
    flexVolume?.secretRef,
    iscsi?.secretRef,
    rbd?.secretRef,
    scaleIO?.secretRef,
    storageos?.secretRef,
  ]
}
