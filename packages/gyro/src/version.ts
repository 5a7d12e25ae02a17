/** Of gyro: that of the packages, kept in step by the release. */
export const VERSION = '0.1.0'
