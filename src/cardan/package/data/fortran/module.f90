! All functions of the package: `use @NAME@`.
module @NAME@
@USES@
  implicit none
  public
end module @NAME@
