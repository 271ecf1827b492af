/**
 * Why a file gets no variants: it is smaller than `minSize`; `include` and `exclude` do not want it; it is compressed in
 * itself, by its extension or by its entropy; or it is a compressed form that stands beside its original.
 */
export type LeftAlone = "small" | "unwanted" | "compressedByName" | "dense" | "beside";
